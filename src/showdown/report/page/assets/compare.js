// Two policies, trial by trial: on each problem the mean difference with its interval, and who won how many trials.

// The trials of two cells in pairs: trial i of a problem is the same draw for every policy. Quantiles are no trials.
function pairedTrials(one, other, metric) {
  if (!one || !other || one.horizon !== other.horizon || one.seed !== other.seed) return null;
  const [first, second] = [one, other].map((cell) => cell.distribution[metric]);
  if (!first || !second || first.length < one.trials || second.length < other.trials) return null;
  const count = Math.min(first.length, second.length);
  const differences = Array.from({ length: count }, (_, trial) => first[trial] - second[trial]);
  return differences.every(Number.isFinite) ? differences : null;
}

// Mean and 95 % t interval over trials, as `showdown.analysis.compare_trials.difference` computes them for one comparison.
function pairedSummary(differences, smaller) {
  const count = differences.length,
    mean = differences.reduce((sum, value) => sum + value, 0) / count;
  const squares = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = count > 1 ? studentT(count) * Math.sqrt(squares / (count - 1) / count) : null;
  const better = smaller ? (value) => value < 0 : (value) => value > 0;
  return {
    mean,
    low: half === null ? null : mean - half,
    high: half === null ? null : mean + half,
    wins: differences.filter(better).length,
    ties: differences.filter((value) => value === 0).length,
    trials: count,
  };
}

// One row per problem that both played, in the unit of the leaderboard.
function comparison(first, second, metric) {
  const smaller = smallerIsBetter(metric);
  return data.problems.flatMap((problem) => {
    const [one, other] = [first, second].map((name) => cellOf(name, problem.name));
    const differences = pairedTrials(one, other, metric);
    if (!differences || !one.shown[metric] || !other.shown[metric]) return [];
    const unit = problem.units[metric] ?? "";
    const { mean } = one.absolute[metric],
      factor = unit.startsWith("%") && mean !== 0 ? one.shown[metric].mean / mean : 1;
    const found = pairedSummary(differences, smaller);
    for (const part of ["mean", "low", "high"]) if (found[part] !== null) found[part] *= factor;
    const sign = smaller ? -1 : 1;
    const sure = found.low !== null && (found.low > 0 || found.high < 0);
    return [{ problem: problem.name, unit, ...found, winner: sure ? (sign * found.mean > 0 ? first : second) : null }];
  });
}

function comparedPair() {
  const ranked = data.policies
    .filter((policy) => (policy.mean_rank[state.metric] ?? null) !== null)
    .sort((one, other) => one.mean_rank[state.metric] - other.mean_rank[state.metric])
    .map((policy) => policy.name);
  const first = state.first ?? ranked.find((name) => name !== state.second) ?? data.policies[0].name;
  return [first, state.second ?? ranked.find((name) => name !== first) ?? first];
}

function compareView() {
  const [first, second] = comparedPair(),
    metric = state.metric;
  const names = data.policies.map((policy) => [policy.name, policy.name]);
  const choose = (part) => (value) => {
    [state.first, state.second] = comparedPair();
    state[part] = value;
    remember();
    showView();
  };
  const swap = () => {
    [state.second, state.first] = comparedPair();
    remember();
    showView();
  };
  const controls = el(
    "div",
    { class: "controls" },
    select("compare", names, first, choose("first")),
    select("with", names, second, choose("second")),
    el("button", { type: "button", class: "plain", onclick: swap }, "swap"),
  );
  const rows = metricOf.get(metric).per_cell ? [] : comparison(first, second, metric);
  if (!rows.length) {
    const why = metricOf.get(metric).per_cell
      ? "A time is measured once for a whole cell, so there are no trials to pair."
      : "These two have no problem with the same horizon, seed and trials. Of more than 200 trials the page holds quantiles, which cannot be paired: use showdown compare.";
    return { nodes: [controls, el("p", { class: "nothing" }, why)], arrange: () => {} };
  }
  const won = (name) => rows.filter(({ winner }) => winner === name).length,
    common = new Set(rows.map(({ unit }) => unit)).size === 1;
  const open = rows.length - won(first) - won(second);
  return {
    nodes: [
      controls,
      el(
        "p",
        { class: "hint" },
        el(
          "strong",
          {},
          `${first} is better on ${won(first)} of ${plural(rows.length, "problem")}, ${second} on ${won(second)}; on ${open} they cannot be told apart. `,
        ),
        `${first} minus ${second}, ${metricIn(metric, common ? rows[0].unit : "")}, trial by trial on the same draws; 95 % t interval of the mean. ${smallerIsBetter(metric) ? "Below" : "Above"} zero ${first} is better. Rows are not corrected for their number.`,
      ),
      common
        ? plot(`${first} minus ${second}, ${metricIn(metric, rows[0].unit)}`, (width) =>
            differencesChart(rows, width, metricIn(metric, rows[0].unit)),
          ).node
        : null,
      differencesTable(rows, first, second),
    ].filter(Boolean),
    arrange: () => {},
  };
}

function differencesChart(rows, width, what) {
  const names = rows.map(({ problem }) => problem),
    left = nameWidth(names, width),
    height = rows.length * ROW + 54;
  const ends = rows.flatMap(({ mean, low, high }) => [mean, low ?? mean, high ?? mean, 0]);
  const { root, frame, plot } = chart({
    width,
    height,
    left,
    right: 24,
    xLabel: width > 500 ? `difference in ${what}` : "difference",
    label: `Differences on ${plural(rows.length, "problem")}`,
    x: (range) => linearScale([Math.min(...ends), Math.max(...ends)], range),
  });
  plot.append(svg("line", { x1: frame.x(0), x2: frame.x(0), y1: frame.top, y2: frame.bottom, class: "zero" }));
  rows.forEach((row, index) => {
    const y = frame.top + index * ROW + ROW / 2;
    plot.append(
      rowName(row.problem, left, y),
      row.low === null
        ? ""
        : svg("line", { x1: frame.x(row.low), x2: frame.x(row.high), y1: y, y2: y, class: "span" }),
      svg(
        "circle",
        { cx: frame.x(row.mean), cy: y, r: 4, class: row.winner ? "mean" : "dot" },
        svg("title", {}, `${row.problem}: ${format(row.mean)} (${format(row.low)} to ${format(row.high)})`),
      ),
    );
  });
  return root;
}

function differencesTable(rows, first, second) {
  const heads = ["problem", "difference", "95 % interval", "unit", "wins, ties, losses", "n", "better"];
  const table = el(
    "table",
    { class: "board differences" },
    el("caption", {}, `${first} minus ${second}, ${titleOf(state.metric)}`),
    el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col", class: "unsorted" }, text)))),
    el(
      "tbody",
      {},
      rows.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, row.problem),
          [
            format(row.mean),
            row.low === null ? "–" : `${format(row.low)} to ${format(row.high)}`,
            row.unit,
            `${row.wins}, ${row.ties}, ${row.trials - row.wins - row.ties}`,
            row.trials,
            row.winner ?? "cannot be told",
          ].map((text) => el("td", { class: "number" }, String(text))),
        ),
      ),
    ),
  );
  const records = () => rows.map((row) => ({ first, second, metric: state.metric, ...row }));
  return el(
    "div",
    {},
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences" }, table),
    tableDownloads(table, records),
  );
}
