// One cell in full: its numbers, its trials, what was published, and the configuration behind it.
function openDetail(policyName, problemName) {
  const cell = cellOf(policyName, problemName),
    failure = failureOf(policyName, problemName),
    own = (cell ?? failure).configuration ?? {}, // where it is not what the names mean elsewhere
    dialog = byId("detail");
  const close = el("button", { type: "button", class: "plain close", onclick: () => dialog.close() }, "Close");
  state.open = [policyName, problemName];
  remember({ opened: true });
  const body = cell
    ? finishedDetail(cell)
    : [
        el("p", { class: "status" }, el("strong", {}, failure.status), failure.reason ? `: ${failure.reason}` : ""),
        facts([
          ["horizon", failure.horizon],
          ["trials", failure.trials],
          ["seed", failure.seed],
          ["cell", failure.cell],
        ]),
        command(failure),
      ];
  dialog.replaceChildren(
    el(
      "div",
      { class: "dialog-top" },
      el("h2", { id: "detail-title" }, policyName, el("span", { class: "on" }, " on "), problemName),
      close,
    ),
    el("p", { class: "hint" }, cardLine(policyOf.get(policyName)), el("br"), cardLine(problemOf.get(problemName))),
    ...body,
    el("h3", {}, "Configuration"),
    configurationTable([
      ...(own.policy ?? policyOf.get(policyName).configuration),
      ...(own.problem ?? problemOf.get(problemName).configuration),
    ]),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  for (const holder of dialog.querySelectorAll(".figure")) holder.draw();
}

// Closing a cell that was opened here is the same step as Back; one that a link opened is left by a new step.
function closeDetail() {
  if (!state.open) return;
  state.open = null;
  if (history.state?.opened) history.back();
  else remember();
}

// A drawing of the dialog, which has its width only once the dialog is open.
function detailPlot(name, drawAt) {
  const holder = el("div", { class: "plot" }),
    figure = el("div", { class: "figure" }, holder, chartDownloads(name, drawAt));
  figure.draw = () => holder.replaceChildren(drawAt(roomIn(holder)));
  return figure;
}

const facts = (pairs) =>
  el(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))),
  );

// Quoted for a shell: a name may hold brackets, spaces or quotes.
const quoted = (text) => (/^[\w.@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const command = ({ policy, problem, horizon, trials, seed }) =>
  el(
    "pre",
    { class: "command" },
    `showdown run --policies ${quoted(policy)} --problems ${quoted(problem)} --trials ${trials} --horizon ${horizon} --seed ${seed}`,
  );

function finishedDetail(cell) {
  const problem = problemOf.get(cell.problem);
  const measured = data.metrics.filter(({ name }) => cell.absolute[name]); // an old cell lacks newer metrics
  const numbers = measured.flatMap(({ name, title, per_cell }) => {
    const shownHere = cell.shown[name],
      absolute = cell.absolute[name],
      unit = problem.units[name],
      reference = problem.reference[name];
    const own = per_cell ? `${duration(absolute.mean)} a trial` : withError(absolute.mean, absolute.sem);
    return [
      [title, unit?.startsWith("%") ? `${withError(shownHere.mean, shownHere.sem, unit)} ${unit}  (${own})` : own],
      reference ? [`${title}, ${BEST_FIXED}`, withError(reference.mean, reference.sem)] : ["", null],
    ];
  });
  const published = cell.paper.map((entry) => {
    const difference = entry.mean - entry.paper_mean;
    return el(
      "tr",
      { class: entry.finding ?? "unknown" },
      el(
        "th",
        { scope: "row" },
        metricIn(entry.metric, entry.unit),
        el("small", {}, ` ${SOURCE_NAMES[entry.source]}`),
      ),
      el("td", {}, withError(entry.mean, entry.sem, entry.unit)),
      el("td", {}, withError(entry.paper_mean, entry.paper_sem, entry.unit)),
      el("td", {}, `${difference > 0 ? "+" : ""}${format(difference)}`),
      el("td", {}, zText(entry)),
      el("td", {}, FINDINGS[entry.finding].join(" ").trim()),
    );
  });
  const where = `${cell.policy} on ${cell.problem}`;
  const strip = (metric) => [
    el(
      "h3",
      {},
      `${titleOf(metric)} of ${cell.distribution[metric].length < cell.trials ? `${cell.trials} trials (quantiles)` : plural(cell.trials, "trial")}`,
    ),
    detailPlot(`${titleOf(metric)} of each trial, ${where}`, (width) =>
      stripChart(cell.distribution[metric], width, `${titleOf(metric)} of each trial`),
    ),
  ];
  const line = detailPlot(`Cumulative regret of ${where}`, (width) =>
    curveChart(cell.problem, [cell.policy], width, { readout: el("div") }),
  );
  const said = verdictOf(MAIN, cell.problem);
  return [
    said ? el("p", { class: "hint" }, `Verdict on ${cell.problem}: ${said.sentence}`) : null,
    facts([
      ...numbers,
      ["rank among the methods on this problem", cell.rank[MAIN]],
      ["stuck trials (less than half of the best method's gain over Uniform)", cell.stuck === undefined ? null : `${cell.stuck} %`],
      ["trials × steps", `${cell.trials} × ${cell.horizon.toLocaleString("en")}`],
      ["seed", cell.seed],
      ["to compile, to run", `${duration(cell.compile_seconds)}, ${duration(cell.run_seconds)}`],
      ["context, actions", problem.context_dim === null ? null : `${problem.context_dim}, ${problem.num_actions}`],
      ["played at the same time as", cell.beside ? plural(cell.beside, "other process", "other processes") : null],
      ...Object.entries(cell.diagnostics).map(([name, value]) => [`${name}, largest over trials`, format(value)]),
      ["finished", cell.finished],
      ["cell", cell.cell],
    ]),
    published.length
      ? el(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "Compared with the paper" },
          el(
            "table",
            { class: "published" },
            el("caption", {}, "Compared with the paper"),
            el(
              "thead",
              {},
              el(
                "tr",
                {},
                ["metric", "ours", "published", "difference", "z", "finding"].map((text) => el("th", { scope: "col" }, text)),
              ),
            ),
            el("tbody", {}, published),
          ),
        )
      : el("p", { class: "hint" }, "No number was published for this cell."),
    ...measured.filter(({ per_cell }) => !per_cell).flatMap(({ name }) => strip(name)),
    el("h3", {}, "Cumulative regret over time, mean ± s.e."),
    line,
    ...timelineDetail(cell, where),
    cell.actions.length ? el("h3", {}, "How often each action was played") : null,
    cell.actions.length ? actionBars(cell.actions) : null,
    el("h3", {}, "Again"),
    command(cell),
  ].filter(Boolean);
}

// One dot per trial, moved up where others are near; a line at the mean.
function stripChart(values, width, label) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const { root, frame, plot } = chart({
    width,
    height: 108,
    left: 10,
    bottom: 38,
    xLabel: label,
    top: 8,
    right: 16,
    label: `${label}: from ${format(Math.min(...values))} to ${format(Math.max(...values))}`,
    x: (range) => linearScale([Math.min(...values), Math.max(...values)], [range[0] + 8, range[1] - 8]),
  });
  const stacked = new Map();
  for (const value of [...values].sort((one, other) => one - other)) {
    const x = frame.x(value),
      bin = Math.round(x / 7),
      level = stacked.get(bin) ?? 0;
    stacked.set(bin, level + 1);
    plot.append(
      svg("circle", { cx: x, cy: Math.max(frame.top + 3, frame.bottom - 5 - level * 7), r: 3, class: "trial" }),
    );
  }
  plot.append(
    svg(
      "line",
      { x1: frame.x(mean), x2: frame.x(mean), y1: frame.top, y2: frame.bottom, class: "median" },
      svg("title", {}, `mean ${format(mean)}`),
    ),
  );
  return root;
}

const actionBars = (shares) =>
  el(
    "ol",
    { class: "actions", start: "0" },
    shares.map((share, action) =>
      el(
        "li",
        { "aria-label": `action ${action}: ${share} %` },
        el("span", { class: "share", style: `width:${clamp(share, 0, 100)}%` }),
        el("span", { class: "percent" }, `${action}: ${format(share)} %`),
      ),
    ),
  );

function configurationTable(rows) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Configuration" },
    el(
      "table",
      { class: "configuration" },
      el("caption", {}, "Configuration"),
      el(
        "tbody",
        {},
        rows.map(({ of, field, value }) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, field),
            el("td", {}, value),
            el("td", { class: "comment" }, data.comments[`${of}.${field}`] ?? "", el("small", {}, ` ${of}`)),
          ),
        ),
      ),
    ),
  );
}
