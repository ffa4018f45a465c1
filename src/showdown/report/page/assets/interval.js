// Mean and interval as a dot on a line, in every cell of the leaderboard: what overlaps is seen before a digit is read.
// Student's t at 97.5 % for 1 to 10 degrees of freedom; the series is right to three decimals for more.
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
function studentT(trials) {
  const freedom = trials - 1;
  return STUDENT[freedom - 1] ?? 1.95996 + 2.3723 / freedom + 2.8225 / freedom ** 2 + 2.5558 / freedom ** 3;
}

// The 95 % interval of a cell's mean; a single trial and a time have none.
function intervalOf(cell, metric) {
  const { mean, sem } = cell.shown[metric];
  const half = sem === null || sem === undefined || cell.trials < 2 ? 0 : studentT(cell.trials) * sem;
  return [mean - half, mean + half];
}

// One scale for several cells, from 0 to 100; logarithmic where they differ by more than five times and are all positive.
// Without Uniform, which would squeeze all others into a corner: it gets an arrow at the end that it is beyond.
function dotScale(all, metric) {
  if (!all.length) return null;
  const methods = all.filter(({ policy }) => policy !== "Uniform"),
    held = methods.length ? methods : all;
  const means = held.map((cell) => cell.shown[metric].mean),
    ends = held.map((cell) => intervalOf(cell, metric));
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const logarithmic = least > 0 && most / least > 5;
  const low = Math.min(...ends.map(([start]) => start)),
    high = Math.max(...ends.map(([, end]) => end));
  // an interval that reaches below zero has no place on a logarithmic scale: it is cut, and marked as cut
  const domain = logarithmic ? [Math.max(low, least / 3), high] : [low, high];
  const scale = (logarithmic ? logScale : linearScale)(domain, [3, 97]);
  return { at: (value) => scale(clamp(value, ...domain)), domain, logarithmic };
}

// For each problem its scale: its own, or the one of the whole table where all numbers have one unit.
function dotScales(metric) {
  const held = data.cells.filter((cell) => cell.shown[metric]);
  if (state.dots === "off") return () => null;
  if (state.dots === "table" && commonUnit()) {
    const shared = dotScale(held, metric);
    return () => shared;
  }
  const own = new Map(
    data.problems.map(({ name }) => [
      name,
      dotScale(
        held.filter((cell) => cell.problem === name),
        metric,
      ),
    ]),
  );
  return ({ name }) => own.get(name);
}

function dotMark(cell, metric, scale) {
  const [low, high] = intervalOf(cell, metric);
  const at = (value) => `${scale.at(value).toFixed(1)}%`;
  const { mean } = cell.shown[metric],
    [start, end] = scale.domain;
  const beyond = mean > end ? " over" : mean < start ? " under" : low < start ? " cut" : "";
  return el("span", {
    class: `mark${beyond}`,
    style: `--at:${at(mean)};--low:${at(low)};--high:${at(high)}`,
  });
}
