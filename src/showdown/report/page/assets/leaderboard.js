// Every number, sortable by any column.
function leaderboard() {
  const best = bests(state.metric),
    common = commonUnit();
  const columns = [
    headings(),
    data.problems.map((problem) =>
      sortButton(
        problemKey(problem.name),
        common || !unitOf(problem) ? problem.name : `${problem.name} (${unitOf(problem)})`,
        `Sort by ${problem.name}`,
      ),
    ),
  ];
  const leading = leadingCells();
  const rowOf = (policy) => [
    leading(policy),
    data.problems.map((problem) => {
      const value = cellOf(policy.name, problem.name)?.shown[state.metric];
      const text = value ? withError(value.mean, value.sem, unitOf(problem)) : "–";
      const mark = value && value.mean === best.get(problem.name) ? "best" : "";
      return el("td", {}, cellButton(policy, problem, { text, label: `${text} ${unitOf(problem)}`, mark }));
    }),
  ];
  const what = metricIn(state.metric, common);
  const error = metricOf.get(state.metric).per_cell ? "" : "; mean ± standard error over trials";
  const better = smallerIsBetter(state.metric) ? "Lower is better" : "Higher is better";
  const table = policyTable({
    caption: `${what}${error}. ${better}.`,
    columns,
    rowOf,
    kind: "board",
    foot: referenceRow(),
  });
  return {
    nodes: [
      el(
        "p",
        { class: "hint" },
        `${what}${error}. ${better}; the best of a column is in bold. Press a heading to sort, a number for its trials.`,
      ),
      table.node,
    ],
    arrange: table.arrange,
  };
}

// What the best fixed action would have given: a line to compare with, no policy.
function referenceRow() {
  const references = data.problems.map((problem) => problem.reference[state.metric]);
  if (!references.some(Boolean)) return null;
  return el(
    "tr",
    { class: "reference" },
    el("th", { scope: "row", title: "the best fixed action in hindsight" }, COMMONEST),
    COLUMNS.map(() => el("td", {})),
    references.map((value) => el("td", { class: "number" }, value ? withError(value.mean, value.sem) : "–")),
  );
}
