// Who decided when: the share of decisions per belief, one point per doubling of steps.
// A policy may keep other timelines too: those that are shares are called so.
const SHARE = "share of ";
function timelineDetail(cell, where) {
  const shares = Object.fromEntries(
    Object.entries(cell.timeline ?? {})
      .filter(([name, values]) => name.startsWith(SHARE) && values.length)
      .map(([name, values]) => [name.slice(SHARE.length), values]),
  );
  const names = Object.keys(shares);
  if (!names.length) return [];
  const name = `Share of decisions per belief over time, ${where}`;
  return [
    el("h3", {}, "Share of decisions per belief over time"),
    detailPlot(name, (width) => timelineChart(shares, names, cell.horizon, width)),
  ];
}

// Bin b holds the steps 2^b to 2^(b+1) − 1; the last one ends with the horizon.
function timelineChart(timeline, names, horizon, width) {
  const bins = Math.max(...names.map((name) => timeline[name].length)),
    end = (bin) => Math.min(2 ** (bin + 1) - 1, horizon);
  const { root, frame, plot } = chart({
    width,
    height: Math.round(clamp(width * 0.4, 200, 320)),
    left: width > 500 ? 58 : 42,
    right: 14 + nameWidth(names, width * 0.8),
    xLabel: "step (logarithmic)",
    yLabel: width > 500 ? "share of decisions, %" : "",
    label: `Share of decisions of ${names.join(", ")}, from the first step to step ${horizon}`,
    x: (range) => logScale([1, Math.max(2, end(bins - 1))], range),
    y: (range) => linearScale([0, 100], range),
  });
  // stacked: what a belief decides is the height of its band, and all of them make 100 %
  const below = Array(bins).fill(0);
  names.forEach((name, index) => {
    const shares = Array.from({ length: bins }, (_, bin) => 100 * (timeline[name][bin] ?? 0));
    const lower = below.map((share, bin) => [frame.x(end(bin)), frame.y(share)]);
    shares.forEach((share, bin) => (below[bin] += share));
    const upper = below.map((share, bin) => [frame.x(end(bin)), frame.y(share)]);
    const color = `var(--line-${index % COLOR_COUNT})`;
    const last = shares.at(-1),
      middle = (lower.at(-1)[1] + upper.at(-1)[1]) / 2;
    plot.append(
      svg(
        "path",
        { d: `${path([...upper, ...lower.reverse()])}Z`, fill: color, class: "belief" },
        svg("title", {}, `${name}: ${format(shares[0])} % at first, ${format(last)} % at the end`),
      ),
    );
    const most = shares.indexOf(Math.max(...shares)); // a belief that is gone at the end is named where it was largest
    if (last < 4 && shares[most] >= 8)
      plot.append(rowName(name, upper[most][0] + 6, (upper[most][1] + frame.y(below[most] - shares[most])) / 2, "start", 200));
    if (last >= 4) plot.append(rowName(name, frame.right + 5, middle, "start", nameWidth([name], width * 0.8)));
  });
  return root;
}
