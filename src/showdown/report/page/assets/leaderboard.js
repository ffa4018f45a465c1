// Every number, sortable by any column.
function leaderboard() {
  const best = bests(state.metric),
    common = commonUnit();
  const lowest = (values) => Math.min(...values.filter((value) => value !== null));
  const bestRank = lowest(data.policies.map((policy) => policy.mean_rank[state.metric]));
  const columns = [
    sortButton(
      "rank",
      "mean rank",
      `Mean rank by ${METRIC_NAMES[state.metric]} over ${plural(data.problems.length, "problem")}`,
    ),
    sortButton(
      "time",
      "time / 1000 steps",
      "Time of 1000 steps of one trial, mean over problems, compilation not counted",
    ),
    data.problems.map((problem) =>
      sortButton(
        problemKey(problem.name),
        common || !unitOf(problem) ? problem.name : `${problem.name} (${unitOf(problem)})`,
        `Sort by ${problem.name}`,
      ),
    ),
  ];
  const rowOf = (policy) => {
    const rank = policy.mean_rank[state.metric];
    return [
      el("td", { class: rank === bestRank ? "number best" : "number" }, rank === null ? "–" : rank.toFixed(1)),
      el("td", { class: "number" }, policy.step_seconds === null ? "–" : duration(1000 * policy.step_seconds)),
      data.problems.map((problem) => {
        const value = cellOf(policy.name, problem.name)?.shown[state.metric];
        const text = value ? withError(value.mean, value.sem, unitOf(problem)) : "";
        const mark = value && value.mean === best.get(problem.name) ? "best" : "";
        return el("td", {}, cellButton(policy, problem, { text, label: `${text} ${unitOf(problem)}`, mark }));
      }),
    ];
  };
  const what = metricIn(state.metric, common);
  const error = state.metric === "time" ? "" : "; mean ± standard error over trials";
  const table = policyTable({
    caption: `${what}${error}. Lower is better.`,
    columns,
    rowOf,
    kind: "board",
  });
  return {
    nodes: [
      el(
        "p",
        { class: "hint" },
        `${what}${error}. Lower is better; the best of a column is in bold. Press a heading to sort, a number for its trials.`,
      ),
      table.node,
    ],
    arrange: table.arrange,
  };
}
