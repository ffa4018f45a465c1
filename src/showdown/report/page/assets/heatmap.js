// Policies × problems at a glance: colour by value against Uniform's on a logarithmic scale, or by rank.
const UNIFORM = 100; // per cent: where better turns into worse
function heatmap() {
  const ranked = state.color === "rank",
    rankOf = (cell) => cell.rank[state.metric];
  const relative = (problem) => unitOf(problem).startsWith("%");
  const values = data.cells
    .filter((cell) => relative(problemOf.get(cell.problem)))
    .map((cell) => cell.shown[state.metric]?.mean)
    .filter((value) => value > 0);
  const low = Math.min(...values, UNIFORM / 2),
    high = Math.max(...values, UNIFORM * 2);
  const place = aroundUniform(low, high);
  const counts = new Map(
    problemsBy.get(state.metric).map((problem) => [problem.name, data.cells.filter((cell) => cell.problem === problem.name && rankOf(cell)).length]),
  );
  const fraction = (cell, problem) => {
    if ((ranked || !relative(problem)) && !rankOf(cell)) return 1; // Uniform, which has no rank
    if (ranked || !relative(problem)) return (rankOf(cell) - 1) / Math.max(1, counts.get(problem.name) - 1);
    return place(cell.shown[state.metric].mean);
  };
  const colorOf = (cell, problem) => heat(fraction(cell, problem), ranked || !relative(problem) ? VIRIDIS : AROUND_UNIFORM);
  const short = (value) =>
    Math.abs(value) >= 10 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
  const rowOf = (policy) =>
    problemsBy.get(state.metric).map((problem) => {
      const cell = cellOf(policy.name, problem.name);
      if (!cell?.shown[state.metric]) return el("td", {}, cellButton(policy, problem, { text: "", label: "" }));
      const { background, color } = colorOf(cell, problem);
      const { mean } = cell.shown[state.metric];
      const rank = rankOf(cell) ? `rank ${rankOf(cell)} of ${counts.get(problem.name)}` : "no rank";
      const text = ranked ? String(rankOf(cell) ?? "–") : short(mean);
      // a name that is read out begins with what is seen
      const label = ranked ? `${rank}, ${format(mean)} ${unitOf(problem)}` : `${text} ${unitOf(problem)}, ${rank}`;
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
  const columns = problemsBy.get(state.metric).map((problem) => sortButton(problemKey(problem.name), problem.name, `Sort by ${problem.name}`));
  const caption = `Heat map of ${titleOf(state.metric)} by ${ranked ? "rank" : "value"}`;
  const table = policyTable({ caption, columns, rowOf, kind: "heat" });
  const legend = heatLegend({ ranked: ranked || !values.length, low, high, unit: problemsBy.get(state.metric).map(unitOf).find((unit) => unit.startsWith("%")) });
  const control = select(
    "colour by",
    [
      ["value", "value"],
      ["rank", "rank on the problem"],
    ],
    state.color,
    (value) => {
      state.color = value;
      remember();
      showView();
    },
  );
  const tileOf = (policy, problem) => {
    const cell = cellOf(policy.name, problem.name);
    if (!cell?.shown[state.metric]) return null;
    const text = ranked ? String(cell.rank[state.metric]) : short(cell.shown[state.metric].mean);
    return { text, ...colorOf(cell, problem) };
  };
  const saving = chartDownloads(`${ranked ? "Ranks by" : "Values of"} ${metricIn(state.metric, commonUnit())}; ${data.title}`, (width) => heatChart(width, tileOf));
  return { nodes: [el("div", { class: "controls" }, control, legend), table.node, saving], arrange: table.arrange };
}

// Where a value stands between the best (0), Uniform (a half) and the worst (1); each half has a logarithmic scale.
function aroundUniform(low, high) {
  return (value) => {
    const ratio = Math.log(Math.max(value, low) / UNIFORM);
    const size = 0.5 + (0.5 * ratio) / Math.log(ratio < 0 ? UNIFORM / low : high / UNIFORM);
    return clamp(smallerIsBetter(state.metric) ? size : 1 - size, 0, 1);
  };
}

// The map as one drawing, for a file: the policies that are seen, in their order.
function heatChart(width, tileOf) {
  const rows = sortedPolicies().filter(isShown),
    top = 78,
    height = top + rows.length * ROW + 8;
  if (!rows.length) return el("p", { class: "nothing" }, "No policy matches the filter.");
  const left = nameWidth(
      rows.map(({ name }) => name),
      width,
    ),
    wide = (width - left - 40) / problemsBy.get(state.metric).length;
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart" });
  problemsBy.get(state.metric).forEach((problem, column) => {
    const x = left + (column + 0.5) * wide;
    root.append(svg("text", { x, y: top - 8, transform: `rotate(-40 ${x} ${top - 8})` }, problem.name));
  });
  rows.forEach((policy, row) => {
    const y = top + row * ROW;
    root.append(rowName(policy.name, left, y + ROW / 2));
    problemsBy.get(state.metric).forEach((problem, column) => {
      const tile = tileOf(policy, problem),
        x = left + column * wide;
      if (tile)
        root.append(
          svg("rect", { x: x + 1, y: y + 1, width: wide - 2, height: ROW - 2, rx: 2, fill: tile.background }),
          svg(
            "text",
            { x: x + wide / 2, y: y + ROW / 2 + 4, "text-anchor": "middle", style: `fill:${tile.color}` },
            tile.text,
          ),
        );
    });
  });
  return root;
}

// What the colours mean: a ramp from the best to the worst, with values along it and the name of the quantity.
function heatLegend({ ranked, low, high, unit }) {
  const width = 240;
  const place = aroundUniform(low, high);
  const inner = logScale([low, high], [0, 1]).ticks(3).filter((tick) => Math.abs(place(tick) - 0.5) > 0.12);
  const ticks = ranked
    ? [
        [0, "best"],
        [width, "worst"],
      ]
    : [...inner, UNIFORM].map((tick) => [place(tick) * width, tickText(tick)]);
  const what = ranked
    ? `rank on the problem, by ${titleOf(state.metric)}`
    : `${metricIn(state.metric, unit)} (logarithmic${commonUnit() ? "" : "; other units by rank"}): ` +
      "blue is better than Uniform, orange worse";
  const ramp = svg(
    "svg",
    { width: width + 40, height: 26, viewBox: `-20 0 ${width + 40} 26`, role: "img", "aria-label": `Colour scale: ${what}` },
    Array.from({ length: 48 }, (_, index) =>
      svg("rect", {
        x: (index * width) / 48,
        width: width / 48 + 0.5,
        height: 10,
        fill: heat((index + 0.5) / 48, ranked ? VIRIDIS : AROUND_UNIFORM).background,
      }),
    ),
    ticks.map(([x, text]) => [
      svg("line", { x1: x, x2: x, y1: 10, y2: 13, class: "axis" }),
      svg("text", { x, y: 24, "text-anchor": "middle", class: "tick" }, text),
    ]),
  );
  return el("div", { class: "legend-heat" }, el("span", {}, what), ramp);
}
