// Time against regret on one problem; the front joins what nothing else beats in both.
function timeView() {
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  const points = data.policies
    .filter(isShown)
    .map((policy) => {
      const cell = cellOf(policy.name, state.problem);
      return (
        cell && {
          name: policy.name,
          cell,
          seconds: cell.absolute.time?.mean ?? 0,
          regret: cell.shown[MAIN].mean,
          error: cell.shown[MAIN].sem,
        }
      );
    })
    .filter((point) => point && point.seconds > 0 && point.name !== "Uniform"); // which is no method, fast as it is
  const logarithmic = points.every(({ regret }) => regret > 0); // a logarithm has no place for the others
  const figure = plot(`Time against ${titleOf(MAIN)} on ${state.problem}`, (width) =>
    timeChart(points, width, readout, logarithmic),
  );
  const what = metricIn(MAIN, problemOf.get(state.problem).units[MAIN]);
  const front = points.filter(({ cell }) => cell.front).sort((one, other) => one.seconds - other.seconds);
  const list = front.map(({ name, seconds, regret }) => `${name} (${duration(seconds)}, ${format(regret)})`).join("; ");
  return {
    nodes: [
      el("div", { class: "controls" }, problemPicker()),
      el(
        "p",
        { class: "hint" },
        data.no_times[state.problem]
          ? ""
          : `Time of one trial and ${what}; ${logarithmic ? "both axes are" : "the axis of time is"} logarithmic. Filled: nothing is both faster and better.`,
      ),
      figure.node,
      readout,
      front.length ? el("p", { class: "hint" }, `On the front: ${list}.`) : null,
    ].filter(Boolean),
    arrange: showView,
  };
}

// A front is a staircase: between two methods there is none that is as fast as the one and as good as the other.
const steps = (points) =>
  points.flatMap(([x, y], index) => (index ? [[x, points[index - 1][1]], [x, y]] : [[x, y]]));

function timeChart(points, width, readout, logarithmic) {
  if (data.no_times[state.problem])
    return el("p", { class: "nothing" }, `Times are not compared: ${data.no_times[state.problem]}.`);
  if (!points.length) return el("p", { class: "nothing" }, "No finished cell matches the filter.");
  const height = Math.round(clamp(width * 0.6, 280, 520));
  const extent = (values, by) => [Math.min(...values) / by, Math.max(...values) * by];
  const regrets = points.map(({ regret }) => regret);
  const { root, frame, plot } = chart({
    width,
    height,
    left: width > 500 ? 58 : 42,
    label: `Time against regret for ${plural(points.length, "policy", "policies")} on ${state.problem}`,
    xLabel: "time of one trial",
    yLabel: width > 500 ? titleOf(MAIN) : "",
    format: { x: (seconds) => duration(Number(seconds.toPrecision(2))).replace(/\.0+ /, " ") },
    x: (range) =>
      logScale(
        extent(
          points.map(({ seconds }) => seconds),
          1.25,
        ),
        range,
      ),
    y: (range) =>
      logarithmic
        ? logScale(extent(regrets, 1.12), range)
        : linearScale([Math.min(...regrets, 0), Math.max(...regrets) * 1.05], range),
  });
  root.setAttribute("role", "group");
  const front = points.filter(({ cell }) => cell.front).sort((one, other) => one.seconds - other.seconds);
  plot.append(
    svg("path", { d: path(steps(front.map(({ seconds, regret }) => [frame.x(seconds), frame.y(regret)]))), class: "front" }),
  );
  const taken = [],
    marks = new Map();
  for (const point of [...points].sort((one, other) => one.cell.front - other.cell.front)) {
    const x = frame.x(point.seconds),
      y = frame.y(point.regret);
    const description = `${point.name}: ${duration(point.seconds)}, ${withError(point.regret, point.error)}`;
    const show = () =>
      readout.replaceChildren(
        el(
          "span",
          {},
          el("b", {}, point.name),
          ` ${duration(point.seconds)} a trial, regret ${withError(point.regret, point.error)}`,
        ),
      );
    const open = () => openDetail(point.name, state.problem);
    const mark = svg(
      "circle",
      {
        cx: x,
        cy: y,
        r: point.cell.front ? 6 : 5,
        class: point.cell.front ? "dot front" : "dot",
        role: "button",
        "aria-label": description,
        onclick: open,
        onpointerenter: show,
        onfocus: show,
      },
      svg("title", {}, description),
    );
    mark.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open();
      }
    });
    plot.append(mark);
    marks.set(point, mark);
  }
  // the front first, so that every one of its methods has its name; the others where there is room
  for (const point of [...points].sort((one, other) => other.cell.front - one.cell.front || one.seconds - other.seconds))
    label(plot, taken, point.name, frame.x(point.seconds), frame.y(point.regret), frame, point.cell.front);
  const fastestFirst = [...marks.keys()].sort((one, other) => one.seconds - other.seconds);
  const line = fastestFirst.map((point) => marks.get(point));
  rove(root, ".dot", line);
  return root;
}

// A name beside its point, above it or below, wherever no other name stands. One that must be written moves farther away,
// with a line to its point.
function label(plot, taken, text, x, y, frame, must) {
  const wide = text.length * 6.4;
  const far = must ? [28, 42, 56, 70, 84, 98].flatMap((dy) => [[0, -dy, "middle"], [0, dy, "middle"], [9, -dy, "start"], [-9, dy, "end"]]) : [];
  for (const [dx, dy, anchor] of [[9, 4, "start"], [-9, 4, "end"], [0, -11, "middle"], [0, 20, "middle"], ...far]) {
    const start = x + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
    const box = [start, y + dy - 10, start + wide, y + dy + 3];
    const inside = box[0] > frame.left && box[2] < frame.right + 8 && box[1] > 0 && box[3] < frame.bottom;
    if (!inside || taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
    taken.push(box);
    if (Math.abs(dy) > 20) plot.append(svg("line", { x1: x, y1: y, x2: x + dx, y2: y + dy + (dy > 0 ? -11 : 4), class: "hair" }));
    plot.append(svg("text", { x: x + dx, y: y + dy, "text-anchor": anchor, class: must ? "mark" : "mark other" }, text));
    return;
  }
}
