// Regret over time on one problem: mean curves, bands of one standard error, values under the pointer or the arrows.
const FIRST_CURVES = 6;
const chosenCurves = new Map(); // problem -> Map(policy -> slot of colour and dash)

function firstChoice(problem) {
  const finished = data.policies.filter((policy) => cellOf(policy.name, problem));
  finished.sort(
    (one, other) => cellOf(one.name, problem).rank[MAIN] - cellOf(other.name, problem).rank[MAIN],
  );
  return new Map(finished.slice(0, FIRST_CURVES).map((policy, slot) => [policy.name, slot]));
}

function freeSlot(chosen) {
  const used = new Set(chosen.values());
  let slot = 0;
  while (used.has(slot)) slot++;
  return slot;
}

function problemPicker() {
  return select(
    "problem",
    data.problems.map((problem) => [problem.name, problem.name]),
    state.problem,
    (value) => {
      state.problem = value;
      showView();
    },
  );
}

function curves() {
  const problem = state.problem;
  if (!chosenCurves.has(problem)) chosenCurves.set(problem, firstChoice(problem));
  const chosen = chosenCurves.get(problem),
    reference = cellOf("Uniform", problem);
  const holder = el("div", { class: "plot" }),
    keys = el("div", { class: "keys", role: "group", "aria-label": "Curves" });
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  const plot = responsive(holder, (width) => curveChart(problem, chosen, width, readout, state.relative));
  const redraw = () => {
    plot.redraw();
    readout.replaceChildren();
  };

  const fillKeys = () => {
    const ordered = data.policies.filter((policy) => isShown(policy) && cellOf(policy.name, problem));
    ordered.sort(
      (one, other) => cellOf(one.name, problem).rank[MAIN] - cellOf(other.name, problem).rank[MAIN],
    );
    keys.replaceChildren(
      ...ordered.map((policy) => {
        const swatch = () =>
          svg(
            "svg",
            { width: 26, height: 10, "aria-hidden": "true" },
            chosen.has(policy.name)
              ? svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5, ...strokeOf(chosen.get(policy.name)) })
              : null,
          );
        const text = el("span", {}, policy.name);
        const button = toggle("", chosen.has(policy.name), (now) => {
          if (now) chosen.set(policy.name, freeSlot(chosen));
          else chosen.delete(policy.name);
          button.firstChild.replaceWith(swatch());
          redraw();
        });
        button.append(swatch(), text);
        return button;
      }),
    );
    if (!ordered.length) keys.replaceChildren(el("p", { class: "nothing" }, "No finished cell matches the filter."));
  };
  fillKeys();
  const set = (names) => {
    chosen.clear();
    for (const name of names) chosen.set(name, freeSlot(chosen));
    fillKeys();
    redraw();
  };
  const listed = () =>
    data.policies.filter((policy) => isShown(policy) && cellOf(policy.name, problem)).map((policy) => policy.name);
  const controls = el(
    "div",
    { class: "controls" },
    problemPicker(),
    reference
      ? toggle("% of Uniform", state.relative, (now) => {
          state.relative = now;
          redraw();
        })
      : null,
    toggle("logarithmic", state.log, (now) => {
      state.log = now;
      redraw();
    }),
    toggle("± s.e.", state.bands, (now) => {
      state.bands = now;
      redraw();
    }),
    el("button", { type: "button", class: "plain", onclick: () => set(listed()) }, "all"),
    el("button", { type: "button", class: "plain", onclick: () => set([...firstChoice(problem).keys()]) }, "best"),
    el("button", { type: "button", class: "plain", onclick: () => set([]) }, "none"),
  );
  return { nodes: [controls, el("div", { class: "split" }, el("div", {}, holder, readout), keys)], arrange: fillKeys };
}

// Every point in per cent of Uniform's mean at the same step; differences that the slope hides are seen this way.
function relativeTo(reference, curve) {
  const kept = curve.steps
    .map((_, index) => index)
    .filter((index) => reference.steps[index] === curve.steps[index] && reference.mean[index] > 0);
  const share = (values) => values && kept.map((index) => (100 * values[index]) / reference.mean[index]);
  return { steps: kept.map((index) => curve.steps[index]), mean: share(curve.mean), sem: share(curve.sem) };
}

function curveChart(problem, chosen, width, readout, relative = false) {
  const reference = cellOf("Uniform", problem)?.curve;
  const as = (curve) => (relative && reference ? relativeTo(reference, curve) : curve);
  const lines = [...chosen]
    .map(([name, slot]) => ({ name, slot, curve: as(cellOf(name, problem).curve) }))
    .filter(({ curve }) => curve.steps.length);
  const height = Math.round(clamp(width * 0.55, 240, 460));
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
  const scaleOf = state.log ? logScale : linearScale;
  const { root, frame, plot } = chart({
    width,
    height,
    xLabel: "step",
    yLabel: width <= 500 ? "" : relative ? "cumulative regret, % of Uniform" : "cumulative regret",
    left: width > 500 ? 58 : 42,
    label: `Cumulative regret on ${problem} over ${steps} steps for ${plural(lines.length, "policy", "policies")}; use the arrow keys to read values`,
    x: (range) => linearScale([0, steps], range),
    y: (range) => scaleOf([bottom, top * 1.02], range),
  });
  for (const { name, slot, curve } of lines) {
    const points = curve.steps.map((step, index) => [frame.x(step), curve.mean[index], curve.sem?.[index] ?? 0]);
    const stroke = strokeOf(slot);
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
  follow(root, frame, lines, steps, readout);
  return root;
}

// The cross-hair: nearest checkpoint of each curve, written out below the drawing, smallest first.
function follow(root, frame, lines, steps, readout) {
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
      .map(({ name, slot, curve }) => {
        const index = nearest(curve);
        return { name, slot, mean: curve.mean[index], sem: curve.sem?.[index] };
      })
      .sort((one, other) => one.mean - other.mean);
    readout.replaceChildren(
      el("strong", {}, `step ${at.toLocaleString("en")}`),
      ...read.map(({ name, slot, mean, sem }) =>
        el(
          "span",
          {},
          svg(
            "svg",
            { width: 16, height: 8, "aria-hidden": "true" },
            svg("line", { x1: 0, x2: 16, y1: 4, y2: 4, "stroke-width": 3, ...strokeOf(slot) }),
          ),
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
