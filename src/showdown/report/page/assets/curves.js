// Regret over time: one problem large, with bands of one standard error and values under the pointer or the arrows, or
// all problems small (`multiples.js`).
const FIRST_CURVES = 6;
const ALL = ""; // stands for all problems, where curves are chosen
const DIFFERENT = Math.log(1.1); // curves that end within a tenth of each other are one line

const regretOf = (policy, problem) => cellOf(policy, problem)?.shown[MAIN]?.mean ?? null;
const playedOn = (problem) => (problem === ALL ? data.problems.map(({ name }) => name) : [problem]);
const hasCurve = (policy, problem) => playedOn(problem).some((name) => cellOf(policy, name));

// The policies with a curve, the best first: by rank on the problem or, of all problems, by the mean rank.
function byRank(problem) {
  const last = Number.MAX_SAFE_INTEGER;
  const rank = ({ name, mean_rank }) => (problem === ALL ? mean_rank[MAIN] : cellOf(name, problem).rank[MAIN]) ?? last;
  return data.policies.filter(({ name }) => hasCurve(name, problem)).sort((one, other) => rank(one) - rank(other));
}

// How far apart two policies end, on the problems that both played: the mean of what one has times more.
function apart(one, other, problem) {
  const ratios = playedOn(problem)
    .map((name) => [regretOf(one, name), regretOf(other, name)])
    .filter(([mine, theirs]) => mine > 0 && theirs > 0)
    .map(([mine, theirs]) => Math.abs(Math.log(mine / theirs)));
  return ratios.length ? ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length : Infinity;
}

// Where methods differ: the best, then the next that is not drawn over one that is there, and the others if there is room.
function firstChoice(problem) {
  const names = byRank(problem).map(({ name }) => name),
    chosen = [];
  for (const name of names)
    if (chosen.length < FIRST_CURVES && chosen.every((other) => apart(name, other, problem) > DIFFERENT)) chosen.push(name);
  const rest = names.filter((name) => !chosen.includes(name)).slice(0, FIRST_CURVES - chosen.length);
  return names.filter((name) => chosen.includes(name) || rest.includes(name));
}

const chosenCurves = (problem) => state.curves.get(problem) ?? firstChoice(problem);

function problemPicker({ all = false } = {}) {
  return select(
    "problem",
    [...(all ? [[ALL, "all, small"]] : []), ...data.problems.map((problem) => [problem.name, problem.name])],
    all && state.many ? ALL : state.problem,
    (value) => {
      if (all) state.many = value === ALL;
      if (value !== ALL) state.problem = value;
      remember();
      showView();
    },
  );
}

function curves() {
  const problem = state.many ? ALL : state.problem,
    reference = hasCurve("Uniform", problem);
  const keys = el("div", { class: "keys", role: "group", "aria-label": "Curves" }),
    readout = el("div", { class: "readout", "aria-live": "polite" });
  const figure = state.many
    ? smallCurves(readout)
    : plot(`Cumulative regret on ${problem}`, (width) =>
        curveChart(problem, chosenCurves(problem), width, { readout, relative: state.relative }),
      );
  const redraw = () => {
    remember();
    figure.redraw();
    readout.replaceChildren();
  };
  const listed = () => byRank(problem).filter(isShown);
  const fillKeys = () => {
    const ordered = listed();
    keys.replaceChildren(...ordered.map(({ name }) => curveKey(problem, name, redraw)));
    if (!ordered.length) keys.replaceChildren(el("p", { class: "nothing" }, "No finished cell matches the filter."));
  };
  fillKeys();
  const set = (names) => {
    if (names) state.curves.set(problem, names);
    else state.curves.delete(problem);
    fillKeys();
    redraw();
  };
  const option = (name, label) =>
    toggle(label, state[name], (now) => {
      state[name] = now;
      redraw();
    });
  const button = (label, names) =>
    el("button", { type: "button", class: "plain", onclick: () => set(names()) }, label);
  const controls = el(
    "div",
    { class: "controls" },
    problemPicker({ all: data.problems.length > 1 }),
    reference ? option("relative", "% of Uniform") : null,
    option("log", "logarithmic"),
    option("bands", "± s.e."),
    button("all", () => listed().map(({ name }) => name)),
    button("where they differ", () => null),
    button("none", () => []),
  );
  return { nodes: [controls, el("div", { class: "split" }, el("div", {}, figure.node, readout), keys)], arrange: fillKeys };
}

function curveKey(problem, name, redraw) {
  const drawn = () => chosenCurves(problem).includes(name);
  const sample = () => swatch(drawn() ? name : null, 26);
  const button = toggle("", drawn(), (now) => {
    const others = chosenCurves(problem).filter((other) => other !== name);
    state.curves.set(problem, now ? [...others, name] : others);
    button.firstChild.replaceWith(sample());
    redraw();
  });
  button.append(sample(), el("span", {}, name));
  return button;
}

// Every point in per cent of Uniform's mean at the same step; differences that the slope hides are seen this way.
function relativeTo(reference, curve) {
  const kept = curve.steps
    .map((_, index) => index)
    .filter((index) => reference.steps[index] === curve.steps[index] && reference.mean[index] > 0);
  const share = (values) => values && kept.map((index) => (100 * values[index]) / reference.mean[index]);
  return { steps: kept.map((index) => curve.steps[index]), mean: share(curve.mean), sem: share(curve.sem) };
}

// `small`: one of several charts, whose title names the problem.
function curveChart(problem, chosen, width, { readout, relative = false, small = false }) {
  const reference = cellOf("Uniform", problem)?.curve;
  const as = (curve) => (relative && reference ? relativeTo(reference, curve) : curve);
  const lines = chosen
    .filter((name) => cellOf(name, problem))
    .map((name) => ({ name, curve: as(cellOf(name, problem).curve) }))
    .filter(({ curve }) => curve.steps.length);
  const height = small ? 210 : Math.round(clamp(width * 0.55, 240, 460));
  if (!lines.length) return el("p", { class: "nothing" }, "Choose a policy to draw its curve.");
  const values = lines.flatMap(({ curve }) =>
    curve.mean.map((mean, index) => mean + (state.bands ? (curve.sem?.[index] ?? 0) : 0)),
  );
  const steps = Math.max(...lines.flatMap(({ curve }) => curve.steps));
  const top = Math.max(...values),
    positive = values.filter((value) => value > 0);
  const floor = Math.min(...lines.flatMap(({ curve }) => curve.mean.slice(Math.floor(curve.mean.length / 3))));
  const bottom =
    relative && !state.log
      ? floor * 0.97
      : state.log
        ? Math.max(Math.min(...positive, top), top / 1e5)
        : Math.min(0, ...values);
  const scaleOf = state.log ? logScale : linearScale,
    room = nameWidth(
      lines.map(({ name }) => name),
      width * 0.55,
    ),
    wide = width > 500 && !small,
    // on a phone inside the chart, where the lines end; small charts on a desk have the keys beside them
    named = lines.length <= height / 13 && (!small || matchMedia("(max-width: 760px)").matches);
  const what = `${relative ? "cumulative regret, % of Uniform" : "cumulative regret"}${state.log ? " (logarithmic)" : ""}`;
  const { root, frame, plot } = chart({
    width,
    height,
    xLabel: wide || small ? "step" : `step; upwards ${what}`, // a phone has no room beside the axis
    yLabel: wide ? what : "",
    left: wide ? 58 : 42,
    right: wide && named ? 14 + room : 14,
    label: `Cumulative regret on ${problem} over ${steps} steps for ${plural(lines.length, "policy", "policies")}; use the arrow keys to read values`,
    x: (range) => linearScale([0, steps], range),
    y: (range) => scaleOf([bottom, top * 1.02], range),
  });
  for (const { name, curve } of lines) {
    const points = curve.steps.map((step, index) => [frame.x(step), curve.mean[index], curve.sem?.[index] ?? 0]);
    const stroke = strokeOf(name);
    if (state.bands && curve.sem) {
      const upper = points.map(([x, mean, sem]) => [x, frame.y(mean + sem)]);
      const lower = points.map(([x, mean, sem]) => [x, frame.y(mean - sem)]).reverse();
      plot.append(svg("path", { d: `${path([...upper, ...lower])}Z`, fill: stroke.stroke, class: "band" }));
    }
    if (points.length === 1) {
      const [x, mean] = points[0]; // a line needs two
      plot.append(svg("circle", { cx: x, cy: frame.y(mean), r: 3.5, fill: stroke.stroke, "data-policy": name }));
    }
    plot.append(
      svg("path", {
        d: path(points.map(([x, mean]) => [x, frame.y(mean)])),
        fill: "none",
        "stroke-width": 2,
        class: "curve",
        "data-policy": name,
        ...stroke,
      }),
    );
  }
  if (named) nameCurves(plot, frame, lines, room, !wide);
  follow(root, frame, lines, steps, readout, small ? `${problem}, ` : "");
  return root;
}

// Each curve's name at its end, moved apart where the ends are close, so that a saved chart needs no legend.
function nameCurves(plot, frame, lines, room, inside) {
  const GAP = 13;
  const ends = lines
    .map(({ name, curve }) => ({ name, from: frame.y(curve.mean.at(-1)), x: frame.x(curve.steps.at(-1)) }))
    .sort((one, other) => one.from - other.from);
  let y = frame.top - GAP / 2;
  for (const end of ends) end.y = y = Math.max(end.from, y + GAP);
  let floor = frame.bottom + GAP / 2;
  for (const end of ends.toReversed()) end.y = floor = Math.min(end.y, floor - GAP);
  for (const { name, from, x, y: at } of ends) {
    if (inside) {
      const text = rowName(name, frame.right - 2, at - 5, "end", room);
      text.classList.add("on-line");
      plot.append(text);
      continue;
    }
    plot.append(
      svg("path", { d: path([[x, from], [frame.right + 8, at]]), fill: "none", ...strokeOf(name), class: "leader" }),
      rowName(name, frame.right + 11, at, "start", room),
    );
  }
}

// The cross-hair: nearest checkpoint of each curve, written out below the drawing, smallest first.
function follow(root, frame, lines, steps, readout, where = "") {
  const hair = svg("line", { y1: frame.top, y2: frame.bottom, class: "hair", visibility: "hidden" });
  root.append(hair);
  let step = steps;
  const nearest = (curve) =>
    curve.steps.reduce(
      (best, at, index) => (Math.abs(at - step) < Math.abs(curve.steps[best] - step) ? index : best),
      0,
    );
  const show = () => {
    const at = lines[0].curve.steps[nearest(lines[0].curve)];
    hair.setAttribute("x1", frame.x(at));
    hair.setAttribute("x2", frame.x(at));
    hair.setAttribute("visibility", "visible");
    const read = lines
      .map(({ name, curve }) => {
        const index = nearest(curve);
        return { name, mean: curve.mean[index], sem: curve.sem?.[index] };
      })
      .sort((one, other) => one.mean - other.mean);
    readout.replaceChildren(
      el("strong", {}, `${where}step ${at.toLocaleString("en")}`),
      ...read.map(({ name, mean, sem }) =>
        el(
          "span",
          {},
          swatch(name, 16),
          ` ${name} `,
          el("b", {}, withError(mean, sem)),
        ),
      ),
    );
  };
  root.setAttribute("tabindex", "0");
  const point = (event) => {
    const place = event.clientX - root.getBoundingClientRect().left;
    step = clamp(frame.x.invert(place), 0, steps);
    show();
  };
  root.addEventListener("pointermove", point);
  root.addEventListener("pointerdown", point); // a finger that taps does not move
  root.addEventListener("focus", show);
  root.addEventListener("keydown", (event) => {
    const all = lines[0].curve.steps,
      here = nearest(lines[0].curve);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    step = all[clamp(to, 0, all.length - 1)];
    show();
  });
}
