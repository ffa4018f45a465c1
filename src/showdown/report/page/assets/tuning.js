// A search for good values of a policy's fields: how it went, each field by itself, and what was found in the end.
const objectiveName = { cumulative: "cumulative regret", simple: "simple regret", reward: "reward, negative" };

function tuningView() {
  const number = clamp(state.tuning, 0, data.tunings.length - 1),
    tuning = data.tunings[number];
  const names = data.tunings.map(({ policy, problems }, index) => [String(index), `${policy} on ${problems.join(", ")}`]);
  const pick = select("tuning", names, String(number), (value) => {
    state.tuning = Number(value);
    remember();
    showView();
  });
  const what = valueName(tuning);
  const progress = plot(`Progress of ${tuning.preset}`, (width) => progressChart(tuning, width, what));
  const slices = tuning.fields.map((field, index) =>
    plot(`${field.name} of ${tuning.preset}`, (width) => sliceChart(tuning, index, width, what)),
  );
  const given = tuning.parts.filter((part) => part < 1).length;
  const hints = [
    `${plural(tuning.values.length, "candidate")}, ${plural(tuning.trials, "trial")} each, proposed by ${tuning.sampler}.`,
    given ? ` Hollow: ${given} that were given up at a part of the horizon; their value is an estimate.` : "",
    " The line is the best so far, dashes are the default.",
  ];
  return {
    nodes: [
      el("div", { class: "controls" }, pick),
      el("h2", {}, tuning.results.length ? `${tuning.preset} and the default on fresh episodes` : tuning.preset),
      el("p", { class: "hint" }, foundSentence(tuning)),
      edgeWarning(tuning),
      tuning.results.length ? resultsTable(tuning) : null,
      el("h2", {}, "Progress"),
      el("p", { class: "hint" }, hints.join("")),
      progress.node,
      el("h2", {}, "Fields"),
      el("p", { class: "hint" }, IMPORTANCE),
      importanceTable(tuning),
      el("p", { class: "hint" }, "Each candidate by the value of one field. Filled: the one that was chosen."),
      el("div", { class: "slices" }, slices.map(({ node }) => node)),
    ].filter(Boolean),
    arrange: () => {},
  };
}

const IMPORTANCE =
  "Importance: of how much candidates differed, the part that goes away if a field were held fixed, from a smooth model of all of them. " +
  "Near 0 %: leave the field alone. Near 100 %: it decides. Where fields act together, their parts add up to more than 100 %.";

// Fields whose chosen value lies within 1 % of an end of what was searched: a better one may lie beyond.
function atAnEnd({ fields, chosen }) {
  return fields.filter((field, place) => {
    if (!["log", "linear"].includes(field.scale)) return false;
    const at = (field.scale === "log" ? logScale : linearScale)([field.low, field.high], [0, 1])(chosen[place]);
    return Math.abs(at - 0.5) > 0.49;
  });
}

function edgeWarning(tuning) {
  const found = atAnEnd(tuning).map(({ name, low, high }) => `${name} (${format(low)} to ${format(high)})`);
  if (!found.length || tuning.is_default) return null;
  return el("p", { class: "warnings" }, `Careful: chosen at an end of what was searched: ${found.join(", ")}. A wider range may hold a better value.`);
}

function valueName({ problems, objective, combine }) {
  if (problems.length === 1) return `${objectiveName[objective] ?? objective} on ${problems[0]}`;
  return combine === "rank" ? "mean rank among candidates" : "mean relative to the default";
}

function foundSentence(tuning) {
  if (tuning.is_default) return "Nothing was found that beats the default on fresh episodes: it stays as it is.";
  if (!tuning.results.length) return `Chosen: ${tuning.spelled}. How it compares with the default is not in the files that were kept.`;
  return `Chosen on episodes that the search had not seen: ${tuning.spelled}. The numbers are of further episodes, paired over trials.`;
}

function resultsTable(tuning) {
  const heads = ["problem", "chosen", "default", "difference", "95 % interval", "better in"];
  const interval = ({ low, high }) => (low === null ? "–" : `${format(low)} to ${format(high)}`);
  const caption = `${tuning.preset} and ${tuning.policy}: ${tuning.objective}`;
  const table = el(
    "table",
    { class: "board" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col", class: "unsorted" }, text)))),
    el(
      "tbody",
      {},
      tuning.results.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, row.problem),
          [
            format(row.chosen),
            format(row.default),
            format(row.difference),
            interval(row),
            `${row.wins} of ${plural(row.trials, "trial")}`,
          ].map((text) => el("td", { class: "number" }, text)),
        ),
      ),
    ),
  );
  const records = () => tuning.results.map((row) => ({ policy: tuning.policy, preset: tuning.preset, ...row }));
  return el(
    "div",
    {},
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table),
    tableDownloads(table, records),
  );
}

function importanceTable(tuning) {
  const heads = ["field", "default", "chosen", "importance"];
  const text = (value) => (typeof value === "number" ? format(value) : value);
  const rows = tuning.fields.map((field, index) => ({
    field: field.name,
    default: field.default,
    chosen: tuning.chosen[index],
    importance: tuning.importance[field.name] ?? null,
  }));
  const caption = `Fields of ${tuning.preset}; importance is the part of the variation that a field explains, alone or with others`;
  const table = el(
    "table",
    { class: "board" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: "unsorted" }, head)))),
    el(
      "tbody",
      {},
      rows.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, row.field),
          [text(row.default), text(row.chosen), row.importance === null ? "–" : `${Math.round(100 * row.importance)} %`].map(
            (value) => el("td", { class: "number" }, value),
          ),
        ),
      ),
    ),
  );
  return el(
    "div",
    {},
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table),
    tableDownloads(table, () => rows),
  );
}

// What both drawings have in common: a scale of values that a few terrible candidates do not stretch.
function valueRange(tuning) {
  const known = tuning.values.filter((value) => value !== null).sort((one, other) => one - other);
  const low = known[0],
    high = Math.max(quantile(known, 0.9), tuning.values[0] ?? low);
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

function candidateMark(tuning, index, x, frame) {
  const value = tuning.values[index];
  if (value === null) return null;
  const words = tuning.fields.map((field, place) => `${field.name} ${tuning.candidates[index][place]}`).join(", ");
  const chosen = tuning.chosen.every((own, place) => own === tuning.candidates[index][place]);
  return svg(
    "circle",
    {
      cx: x,
      cy: clamp(frame.y(value), frame.top, frame.bottom),
      r: chosen ? 6 : 3.5,
      class: chosen ? "dot front" : tuning.parts[index] < 1 ? "dot" : "trial",
    },
    svg("title", {}, `${index + 1}: ${format(value)} (${words})`),
  );
}

function tuningChart(tuning, width, { x, xLabel, what, label, place, format: ticksAs }) {
  if (tuning.values.every((value) => value === null)) return el("p", { class: "nothing" }, "Every candidate diverged.");
  const { root, frame, plot } = chart({
    width,
    height: Math.round(clamp(width * 0.5, 220, 360)),
    left: 60,
    label,
    x,
    y: (range) => linearScale(valueRange(tuning), range),
    xLabel,
    yLabel: what,
    format: ticksAs,
  });
  if (tuning.values[0] !== null) {
    const y = frame.y(tuning.values[0]);
    plot.append(svg("line", { x1: frame.left, x2: frame.right, y1: y, y2: y, class: "hair" }));
  }
  plot.append(...tuning.values.map((_, index) => candidateMark(tuning, index, place(index, frame), frame)).filter(Boolean));
  return { root, frame, plot };
}

function progressChart(tuning, width, what) {
  const drawn = tuningChart(tuning, width, {
    x: (range) => linearScale([1, Math.max(2, tuning.values.length)], range, { integers: true }),
    xLabel: "candidate",
    what,
    label: `Candidates of ${tuning.preset} in the order of proposals: ${what}`,
    place: (index, frame) => frame.x(index + 1),
  });
  if (!drawn.plot) return drawn;
  let best = null;
  const line = [];
  tuning.values.forEach((value, index) => {
    if (value !== null && tuning.parts[index] === 1 && (best === null || value < best)) best = value;
    if (best !== null) line.push([drawn.frame.x(index + 1), clamp(drawn.frame.y(best), drawn.frame.top, drawn.frame.bottom)]);
  });
  drawn.plot.append(svg("path", { d: path(line), class: "best-so-far" }));
  return drawn.root;
}

function sliceChart(tuning, place, width, what) {
  const field = tuning.fields[place],
    options = field.options;
  const ranges = {
    log: (range) => logScale([field.low, field.high], range),
    linear: (range) => linearScale([field.low, field.high], range),
    integers: (range) => linearScale([field.low, field.high], range, { integers: true }),
    choices: (range) => linearScale([-0.5, options.length - 0.5], range, { integers: true }),
  };
  const at = (value) => (field.scale === "choices" ? options.indexOf(value) : value);
  const drawn = tuningChart(tuning, width, {
    x: ranges[field.scale],
    xLabel: field.scale === "log" ? `${field.name} (logarithmic)` : field.name,
    what: width > 500 ? what : "",
    label: `${what} by ${field.name}`,
    place: (index, frame) => frame.x(at(tuning.candidates[index][place])),
    format: field.scale === "choices" ? { x: (tick) => String(options[tick] ?? "") } : {},
  });
  return drawn.root ?? drawn;
}
