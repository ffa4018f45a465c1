// What the three tables of policies × problems share: sticky headings, rows that can be reordered without rebuilding.
function sortButton(key, text, hint, below = null) {
  const button = el("button", { type: "button", class: "sort", title: hint }, text);
  const heading = el("th", { scope: "col", "data-key": key }, button, below);
  button.addEventListener("click", () => {
    state.sort = { key, descending: state.sort.key === key ? !state.sort.descending : startsDescending(key) };
    remember();
    refreshRows();
  });
  return heading;
}

// `columns` are headings, `rowOf(policy)` gives the cells of one row; `only` leaves policies out; `foot` is a last row
// that is not sorted with the others; `records` gives the rows of a CSV file.
function policyTable({ caption, columns, rowOf, kind, only = () => true, foot = null, records = cellRecords }) {
  const rows = new Map();
  for (const policy of data.policies.filter(only)) {
    const hint = [policy.family, policy.about, policy.variant].filter(Boolean).join(" · ");
    rows.set(policy.name, el("tr", {}, el("th", { scope: "row", title: hint }, policy.name), rowOf(policy)));
  }
  const body = el("tbody", {}, [...rows.values()]);
  const table = el(
    "table",
    { class: kind },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, sortButton("name", "policy", "Sort by name"), columns)),
    body,
    foot ? el("tfoot", {}, foot) : null,
  );
  const nothing = el("p", { class: "nothing", hidden: true }, "No policy matches the filter.");
  const wrapper = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
  const arrange = () => {
    const ordered = sortedPolicies().filter(only);
    let visible = 0;
    for (const policy of ordered) {
      const row = rows.get(policy.name);
      row.hidden = !isShown(policy);
      visible += !row.hidden;
    }
    body.append(...ordered.map((policy) => rows.get(policy.name)));
    nothing.hidden = visible > 0;
    for (const heading of table.querySelectorAll("th[data-key]")) {
      const active = heading.dataset.key === state.sort.key;
      if (active) heading.setAttribute("aria-sort", state.sort.descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
    restart(); // the tab stop may be in a row that is hidden now, or no longer the first
  };
  const restart = rove(table, "button.cell");
  arrange();
  return { node: el("div", {}, wrapper, nothing, tableDownloads(table, records)), arrange };
}

// The button that stands for one (policy, problem), whatever became of it.
function cellButton(policy, problem, { text, label, mark = "", style = "" }) {
  const failure = failureOf(policy.name, problem.name);
  if (!cellOf(policy.name, problem.name)) {
    if (!failure) return el("span", { class: "absent", title: `${policy.name} was not run on ${problem.name}` }, "–");
    return el(
      "button",
      {
        type: "button",
        class: "cell failed",
        title: failure.reason,
        "aria-label": `${policy.name} on ${problem.name}: ${failure.status}`,
        onclick: () => openDetail(policy.name, problem.name),
      },
      failure.status,
    );
  }
  return el(
    "button",
    {
      type: "button",
      class: `cell ${mark}`,
      style,
      "aria-label": `${policy.name} on ${problem.name}: ${label}`,
      onclick: () => openDetail(policy.name, problem.name),
    },
    text,
  );
}

// How policies are marked on each problem: "best", and "tied" for all that cannot be told from it, among all policies,
// so that filtering does not crown another. A time has no interval: there the lowest alone is marked.
function bests(metric) {
  const best = smallerIsBetter(metric) ? Math.min : Math.max;
  return new Map(
    data.problems.map((problem) => {
      const found = verdictOf(metric, problem.name);
      if (found?.best && !found.crowned) return [problem.name, new Map()];
      if (found?.best) {
        const tied = found.tied.map((name) => [name, "tied"]);
        return [problem.name, new Map([...tied, [found.best, "best"]])];
      }
      const values = data.policies.map(({ name }) => [name, shown(name, problem.name, metric)]);
      const top = best(...values.map(([, value]) => value).filter((value) => value !== null));
      const first = values.filter(([, value]) => value === top);
      return [problem.name, new Map(first.map(([name]) => [name, "best"]))];
    }),
  );
}

const unitOf = (problem) => problem.units[state.metric] ?? "";
const commonUnit = () => {
  const units = new Set(data.problems.map(unitOf).filter(Boolean));
  return units.size === 1 ? [...units][0] : null;
};
