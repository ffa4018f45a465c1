// Policies × problems at a glance: colour by value on a logarithmic scale, or by rank.
function heatmap() {
  const ranked = state.color === "rank";
  const relative = (problem) => unitOf(problem).startsWith("%");
  const values = data.cells
    .filter((cell) => relative(problemOf.get(cell.problem)))
    .map((cell) => cell.shown[state.metric]?.mean)
    .filter((value) => value > 0);
  const low = Math.log(Math.min(...values, 100)),
    high = Math.log(Math.max(...values, 1));
  const counts = new Map(
    data.problems.map((problem) => [problem.name, data.cells.filter((cell) => cell.problem === problem.name).length]),
  );
  const fraction = (cell, problem) => {
    if (ranked || !relative(problem)) return (cell.rank[state.metric] - 1) / Math.max(1, counts.get(problem.name) - 1);
    const { mean } = cell.shown[state.metric];
    // one value alone above zero is the largest there is
    const size = mean <= 0 ? 0 : low < high ? (Math.log(mean) - low) / (high - low) : 1;
    return smallerIsBetter(state.metric) ? size : 1 - size;
  };
  const short = (value) =>
    Math.abs(value) >= 10 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
  const rowOf = (policy) =>
    data.problems.map((problem) => {
      const cell = cellOf(policy.name, problem.name);
      if (!cell?.shown[state.metric]) return el("td", {}, cellButton(policy, problem, { text: "", label: "" }));
      const { background, color } = heat(fraction(cell, problem));
      const { mean } = cell.shown[state.metric];
      const label = `${format(mean)} ${unitOf(problem)}, rank ${cell.rank[state.metric]} of ${counts.get(problem.name)}`;
      const text = ranked ? String(cell.rank[state.metric]) : short(mean);
      return el(
        "td",
        {},
        cellButton(policy, problem, {
          text,
          label,
          mark: "tile",
          style: `background:${background};color:${color}`,
        }),
      );
    });
  const columns = data.problems.map((problem) => sortButton(problemKey(problem.name), problem.name, `Sort by ${problem.name}`));
  const caption = `Heat map of ${titleOf(state.metric)} by ${ranked ? "rank" : "value"}`;
  const table = policyTable({ caption, columns, rowOf, kind: "heat" });
  const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const ends = ranked
    ? ["first", "last"]
    : values.length
      ? [low < high ? format(Math.exp(low)) : "≤ 0", `${format(Math.exp(high))} %`]
      : ["first", "last"];
  if (!ranked && values.length && !smallerIsBetter(state.metric)) ends.reverse(); // the best is on the left
  const legend = el(
    "div",
    { class: "legend-heat", "aria-hidden": "true" },
    el("span", {}, ends[0]),
    el("span", {
      class: "ramp",
      style: `background:linear-gradient(90deg,${steps.map((step) => heat(step).background).join(",")})`,
    }),
    el("span", {}, ends[1]),
  );
  const control = select(
    "colour by",
    [
      ["value", "value"],
      ["rank", "rank on the problem"],
    ],
    state.color,
    (value) => {
      state.color = value;
      showView();
    },
  );
  return { nodes: [el("div", { class: "controls" }, control, legend), table.node], arrange: table.arrange };
}
