// Over all problems: ratio to the best of each, profiles of it, and a table with both intervals of every number.
const aggregatesOf = (metric) => data.aggregates[metric] ?? null;

function aggregatesParts(metric) {
  const found = aggregatesOf(metric);
  if (!found) return [];
  const rows = found.methods.filter(({ policy }) => isShown(policyOf.get(policy)));
  const over = plural(found.problems.length, "problem");
  const by = `${titleOf(metric)}, ${data.title}`;
  return [
    el("h2", {}, `Ratio to the best over ${over}`),
    el("p", { class: "hint" }, "Mean of a method divided by that of the best method of the problem, mean over problems: 1 is the best everywhere. Line: 95 % interval over trials, so about these problems."),
    plot(`Ratio to the best by ${by}`, (width) =>
      dotChart(rows.map(({ policy, mean_ratio: [value, trials] }) => ({ name: policy, value: [value, ...trials] })), width, "mean ratio", { origin: 1 }),
    ).node,
    el("h2", {}, "Performance profiles over problems"),
    el("p", { class: "hint" }, `Share of problems on which a method's ratio to the best is at most so large. The higher a line, the better; the best ${Math.min(MOST_PROFILES, rows.length)} are drawn.`),
    plot(`Performance profiles over problems by ${by}`, (width) =>
      profileChart(found.levels, rows.slice(0, MOST_PROFILES), width, "ratio to the best", "share of problems"),
    ).node,
    el("h2", {}, `All numbers over ${over}`),
    el("p", { class: "hint" }, "In square brackets the 95 % interval over trials (these problems), in braces that over problems (problems like these)."),
    aggregatesTable(rows, found),
    ...aggregatesNotes(found).map((line) => el("p", { class: "hint" }, line)),
  ];
}

function aggregatesTable(rows, found) {
  const heads = ["method", "mean ratio", "worst ratio", "within 5 %", `better than ${found.methods[0].policy}`, "mean rank"];
  const written = (value, places) => {
    if (!value) return "–";
    const [mean, trials, problems] = value;
    const ends = (pair, [open, close]) => (pair ? ` ${open}${pair.map((end) => end.toFixed(places)).join(", ")}${close}` : "");
    return `${mean.toFixed(places)}${ends(trials, "[]")}${ends(problems, "{}")}`;
  };
  const line = (one) => [
    el("th", { scope: "row" }, one.policy),
    ...[
      written(one.mean_ratio, 2),
      `${written(one.worst_ratio, 2)} ${one.worst_problem}`,
      written(one.near, 2),
      written(one.improvement, 2),
      written(one.mean_rank, 1),
    ].map((text) => el("td", { class: "number" }, text)),
  ];
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers over all problems" },
    el("table", { class: "aggregates" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: "unsorted" }, head)))), el("tbody", {}, rows.map((one) => el("tr", {}, line(one))))),
  );
}

function aggregatesNotes(found) {
  const rank = found.critical_difference;
  return [
    ...(rank === null ? [] : [`Mean ranks closer than ${format(rank)} cannot be told apart (Nemenyi, all pairs at once).`]),
    ...found.left_out.map((sentence) => `Left out: ${sentence}.`),
  ];
}
