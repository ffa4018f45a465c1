// All methods at once: means over problems as dots, how often the best beats each, and performance profiles.
const overviewOf = (metric) => data.overviews[metric] ?? null;
const MOST_PROFILES = 6; // lines that can still be told apart

function overviewView() {
  const found = overviewOf(state.metric);
  if (!found)
    return {
      nodes: [
        el("p", { class: "nothing" }, `No overview by ${titleOf(state.metric)}: it needs two methods on the same problems, and one unit for all of them.`),
        ...aggregatesParts(state.metric),
      ],
      arrange: showView,
    };
  const rows = found.methods.filter(({ policy }) => isShown(policyOf.get(policy)));
  const better = smallerIsBetter(state.metric) ? "Lower is better" : "Higher is better";
  const unit = found.unit.startsWith("share") ? "" : `, ${found.unit}`;
  const over = plural(found.problems, "problem");
  const part = (title, hint, name, draw) => [el("h2", {}, title), el("p", { class: "hint" }, hint), plot(name, draw).node];
  const best = found.methods[0].policy;
  return {
    nodes: [
      ...part(
        `Mean ${titleOf(state.metric)} over ${over}`,
        `Dot: mean over problems${unit}; line: its 95 % interval over trials. ${better}.`,
        `Mean ${titleOf(state.metric)}, ${data.title}`,
        (width) => dotChart(rows.map(({ policy, aggregate }) => ({ name: policy, value: aggregate })), width, `${titleOf(state.metric)}${unit}`),
      ),
      ...part(
        `Probability that ${best} is better`,
        `Share of trials in which ${best} is better than each other method, mean over problems, with its 95 % interval. Right of the middle: ${best} is usually better.`,
        `Probability of improvement, ${data.title}`,
        (width) =>
          dotChart(
            rows.filter(({ improvement }) => improvement).map(({ policy, improvement }) => ({ name: policy, value: improvement })),
            width,
            "probability",
            { domain: [0, 1], middle: 0.5 },
          ),
      ),
      ...part(
        "Performance profiles",
        `Share of trials, each problem counting the same, that reach a level of ${titleOf(state.metric)}${unit}. The higher a line, the better; of ${plural(rows.length, "method")} the best ${Math.min(MOST_PROFILES, rows.length)} are drawn.`,
        `Performance profiles, ${data.title}`,
        (width) => profileChart(found.levels, rows.slice(0, MOST_PROFILES), width, `${titleOf(state.metric)}${unit}`),
      ),
      ...aggregatesParts(state.metric),
    ],
    arrange: showView,
  };
}

// Rows of a dot with its interval; logarithmic, and said so, where the means differ by more than ten times.
function dotChart(rows, width, xLabel, { domain = null, middle = null, origin = 0 } = {}) {
  if (!rows.length) return el("p", { class: "nothing" }, "No method matches the filter.");
  const left = nameWidth(rows.map(({ name }) => name), width);
  const means = rows.map(({ value }) => value[0]);
  const logarithmic = !domain && Math.min(...means) > 0 && Math.max(...means) / Math.min(...means) > 10;
  const ends = rows.flatMap(({ value: [, low, high] }) => [low, high]);
  const least = Math.min(...ends);
  const span = domain ?? [logarithmic ? Math.max(least, Math.min(...means) / 3) : Math.min(origin, least), Math.max(...ends)];
  const { root, frame, plot } = chart({
    width,
    height: rows.length * ROW + 50,
    left,
    label: `${xLabel}; first: ${rows[0].name}, ${format(rows[0].value[0])}`,
    x: (range) => (logarithmic ? logScale : linearScale)(span, range),
    xLabel: logarithmic ? `${xLabel} (logarithmic)` : xLabel,
  });
  if (middle !== null)
    plot.append(svg("line", { x1: frame.x(middle), x2: frame.x(middle), y1: frame.top, y2: frame.bottom, class: "median" }));
  rows.forEach(({ name, value: [mean, low, high] }, index) => {
    const y = frame.top + index * ROW + ROW / 2;
    plot.append(
      rowName(name, left, y),
      svg("line", { x1: frame.x(Math.max(low, span[0])), x2: frame.x(Math.min(high, span[1])), y1: y, y2: y, class: "whisker" }),
      svg("circle", { cx: frame.x(mean), cy: y, r: 4, class: "mean" }, svg("title", {}, `${name}: ${format(mean)}, ${format(low)} to ${format(high)}`)),
    );
  });
  return root;
}

function profileChart(levels, rows, width, xLabel, yLabel = "share of trials") {
  if (!rows.length) return el("p", { class: "nothing" }, "No method matches the filter.");
  const ordered = [...levels].sort((one, other) => one - other);
  const logarithmic = ordered[0] > 0 && ordered.at(-1) / ordered[0] > 10;
  const right = width > 500 ? 14 + nameWidth(rows.map(({ policy }) => policy), width * 0.55) : 14;
  const { root, frame, plot } = chart({
    width,
    height: Math.round(clamp(width * 0.45, 220, 380)),
    right,
    label: `Performance profiles of ${rows.map(({ policy }) => policy).join(", ")}`,
    x: (range) => (logarithmic ? logScale : linearScale)([ordered[0], ordered.at(-1)], range),
    y: (range) => linearScale([0, 1], range),
    xLabel: logarithmic ? `${xLabel} (logarithmic)` : xLabel,
    yLabel: width > 500 ? yLabel : "",
  });
  for (const { policy, profile } of rows) {
    const points = profile.map((share, index) => [frame.x(levels[index]), frame.y(share)]);
    plot.append(svg("path", { d: path(points), fill: "none", "stroke-width": 2, ...strokeOf(policy) }, svg("title", {}, policy)));
  }
  if (width > 500)
    rows.forEach(({ policy }, index) => {
      const y = frame.top + 8 + index * 16;
      plot.append(
        svg("line", { x1: frame.right + 4, x2: frame.right + 18, y1: y, y2: y, "stroke-width": 2, ...strokeOf(policy) }),
        rowName(policy, frame.right + 22, y, "start", right - 22),
      );
    });
  if (width > 500) return root;
  const keys = rows.map(({ policy }) => el("span", { class: "key" }, swatch(policy, 26), ` ${policy} `));
  return el("div", {}, root, el("p", { class: "hint" }, keys));
}
