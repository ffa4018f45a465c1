// Ranks over problems as boxes, and the critical-difference diagram of Nemenyi's test.
const ROW = 20;

function quantile(sorted, share) {
  const place = share * (sorted.length - 1),
    low = Math.floor(place);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (place - low);
}

// A few names, and how many more there are.
function some(names, most = 6) {
  return names.length > most + 1 ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");
}

function ranksView() {
  const rows = data.policies
    .filter(isShown)
    .map((policy) => ({
      name: policy.name,
      mean: policy.mean_rank[state.metric],
      ranks: policy.ranks[state.metric], // among policies that played the same problems, as the mean is
    }))
    .filter(({ ranks }) => ranks.length)
    .sort((one, other) => one.mean - other.mean);
  const by = `${titleOf(state.metric)}, ${data.title}`;
  const boxes = plot(`Ranks by ${by}`, (width) => boxChart(rows, width));
  const partial = verdictOf(state.metric)?.left_out ?? [];
  const test = data.rank_tests[state.metric];
  const words =
    !test || test.reason
      ? [`No rank test: ${test?.reason ?? "nothing is finished"}.`]
      : [
          `Friedman's test over ${plural(test.problems.length, "problem")}: p ${test.p_value < 1e-4 ? "< 0.0001" : `= ${test.p_value}`}. ${rankTestWords(test)}`,
          test.left_out.length ? ` Left out, since they did not play these problems: ${some(test.left_out)}.` : "",
        ];
  const difference =
    test?.rejects ? plot(`Critical differences by ${by}`, (width) => differenceChart(test, width)) : null;
  return {
    nodes: [
      el("h2", {}, `Ranks by ${titleOf(state.metric)} over ${plural(rows[0]?.ranks.length ?? 0, "problem")}`),
      el(
        "p",
        { class: "hint" },
        "Box: the middle half; line: median; dot: mean; whiskers: all of them. 1 is the best. ",
        partial.length ? `Not ranked, since they did not play the same problems: ${some(partial)}.` : "",
      ),
      boxes.node,
      el("h2", {}, "Critical differences"),
      el("p", { class: "hint" }, words.join("")),
      difference?.node,
    ].filter(Boolean),
    arrange: showView,
  };
}

// What follows from Friedman's test: nothing about pairs where it does not find a difference at all.
function rankTestWords(test) {
  if (!test.rejects) return "It finds no difference between the methods, so no pair of them is told apart and no critical difference is drawn.";
  return `Mean ranks closer than ${format(test.critical_difference)} (Nemenyi, α = 0.05) cannot be told apart: a bar joins them. That is a test of all pairs at once; the verdict above only compares with the best, and so may tell more.`;
}

const nameWidth = (names, width) => Math.min(Math.max(...names.map((name) => name.length)) * 6.6 + 12, width * 0.42);

// Names are cut to the room they have; the whole one is in the title.
function rowName(text, x, y, anchor = "end", room = x) {
  const letters = Math.max(3, Math.floor((room - 8) / 6.4));
  const cut = text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
  return svg("text", { x: anchor === "end" ? x - 6 : x, y: y + 4, "text-anchor": anchor }, cut, svg("title", {}, text));
}

function boxChart(rows, width) {
  if (!rows.length) return el("p", { class: "nothing" }, "No finished cell matches the filter.");
  const left = nameWidth(
      rows.map(({ name }) => name),
      width,
    ),
    height = rows.length * ROW + 50;
  const last = Math.max(...data.policies.flatMap((policy) => policy.ranks[state.metric]));
  const { root, frame, plot } = chart({
    width,
    height,
    left,
    label: `Box plot of ranks; best mean rank: ${rows[0].name}, ${rows[0].mean.toFixed(1)}`,
    x: (range) => linearScale([1, Math.max(2, last)], range, { integers: true }),
    xLabel: "rank",
  });
  rows.forEach(({ name, mean, ranks }, index) => {
    const y = frame.top + index * ROW + ROW / 2,
      [low, first, median, third, high] = [0, 0.25, 0.5, 0.75, 1].map((share) => frame.x(quantile(ranks, share)));
    plot.append(
      rowName(name, left, y),
      svg("line", { x1: low, x2: high, y1: y, y2: y, class: "whisker" }),
      svg(
        "rect",
        { x: first, y: y - 6, width: Math.max(1, third - first), height: 12, rx: 2, class: "box" },
        svg("title", {}, `${name}: median ${format(quantile(ranks, 0.5))}, mean ${mean.toFixed(1)}`),
      ),
      svg("line", { x1: median, x2: median, y1: y - 6, y2: y + 6, class: "median" }),
      svg("circle", { cx: frame.x(mean), cy: y, r: 3.2, class: "mean" }),
    );
  });
  return root;
}

function differenceChart(test, width) {
  const names = test.order.map(({ policy }) => policy),
    left = nameWidth(names, width);
  const bars = test.groups.length,
    right = 14 + bars * 9,
    height = names.length * ROW + 74;
  const { root, frame, plot } = chart({
    width,
    height,
    left,
    right,
    top: 34,
    xLabel: "mean rank",
    label: `Critical difference ${format(test.critical_difference)}; best: ${names[0]}`,
    x: (range) => linearScale([1, Math.max(2, test.order[test.order.length - 1].rank)], range, { integers: true }),
  });
  const ruler = Math.min(frame.x(1 + test.critical_difference), frame.right);
  plot.append(
    svg("line", { x1: frame.x(1), x2: ruler, y1: 16, y2: 16, class: "ruler" }),
    svg("text", { x: frame.x(1), y: 11 }, `critical difference ${format(test.critical_difference)}`),
  );
  const rowY = (index) => frame.top + index * ROW + ROW / 2;
  test.order.forEach(({ policy, rank }, index) => {
    plot.append(
      rowName(policy, left, rowY(index)),
      svg("line", { x1: frame.x(1), x2: frame.x(rank), y1: rowY(index), y2: rowY(index), class: "whisker" }),
      svg(
        "circle",
        { cx: frame.x(rank), cy: rowY(index), r: 4, class: "mean" },
        svg("title", {}, `${policy}: ${format(rank)}`),
      ),
    );
  });
  test.groups.forEach(([first, last], index) => {
    const x = frame.right + 10 + index * 9;
    plot.append(
      svg(
        "line",
        { x1: x, x2: x, y1: rowY(first) - 5, y2: rowY(last) + 5, class: "join" },
        svg("title", {}, `${names[first]} to ${names[last]} cannot be told apart`),
      ),
    );
  });
  return root;
}
