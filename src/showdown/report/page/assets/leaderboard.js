// Every number, sortable by any column.
function leaderboard() {
  const best = bests(state.metric),
    common = commonUnit(),
    scaleOf = dotScales(state.metric),
    counts = [...new Set(data.cells.map((cell) => cell.trials))];
  const columns = [
    headings(false),
    problemsBy.get(state.metric).map((problem) =>
      sortButton(
        problemKey(problem.name),
        common || !unitOf(problem) ? problem.name : `${problem.name} (${unitOf(problem)})`,
        `Sort by ${problem.name}. ${problem.about ?? ""}`,
        scaleEnds(scaleOf(problem)),
      ),
    ),
    headings(true),
  ];
  const rowOf = (policy) => [
    columnCells(policy, false),
    problemsBy.get(state.metric).map((problem) => {
      const cell = cellOf(policy.name, problem.name),
        value = cell?.shown[state.metric],
        scale = scaleOf(problem);
      const text = value ? withError(value.mean, value.sem, unitOf(problem)) : "–";
      const parts = [el("span", { "data-part": true }, text)];
      if (value && counts.length > 1) parts.push(el("small", { class: "count" }, ` n ${cell.trials}`));
      if (value && scale) parts.push(dotMark(cell, state.metric, scale));
      const label = `${text}${cell ? ` n ${cell.trials}` : ""} ${unitOf(problem)}`;
      const mark = value ? (best.get(problem.name).get(policy.name) ?? "") : "";
      const also = mark === "tied" ? ", cannot be told from the best" : mark ? ", the best" : "";
      return el("td", {}, cellButton(policy, problem, { text: parts, label: label + also, mark }));
    }),
    columnCells(policy, true),
  ];
  const what = metricIn(state.metric, common),
    perCell = metricOf.get(state.metric).per_cell;
  const each = counts.length === 1 ? `${plural(counts[0], "trial")} each (n = ${counts[0]})` : "n trials each";
  const better = smallerIsBetter(state.metric) ? "Lower is better" : "Higher is better";
  const caption = `${what}${perCell ? "" : `; mean ± standard error, ${each}`}. ${better}.`;
  const table = policyTable({ caption, columns, rowOf, kind: "board", foot: referenceRow() });
  return {
    nodes: [
      el(
        "div",
        { class: "hint split-hint" },
        el("span", {}, `${caption} Bold: the best${perCell ? "" : "; underlined: cannot be told from it"}. ${dotsHint(perCell)}Press a heading to sort, a number for its trials.`),
        select(
          "dots",
          [
            ["problem", "scale per problem"],
            ...(common ? [["table", "one scale for all"]] : []),
            ["off", "none"],
          ],
          state.dots,
          (value) => {
            state.dots = value;
            remember();
            showView();
          },
        ),
      ),
      table.node,
    ],
    arrange: table.arrange,
  };
}

function dotsHint(perCell) {
  if (state.dots === "off") return "";
  const scale = state.dots === "table" ? "the table share" : "a column share";
  const arrow = data.cells.some(({ policy }) => policy === "Uniform") ? "; an arrow: Uniform is beyond it" : "";
  return `${perCell ? "Dots" : "Dots with 95 % intervals"} of ${scale} one scale${arrow}. `;
}

const scaleEnds = (scale) =>
  scale &&
  el(
    "small",
    { class: "ends", title: scale.logarithmic ? "logarithmic scale" : "linear scale" },
    el("span", {}, tickText(Number(scale.domain[0].toPrecision(2)))),
    scale.logarithmic ? el("span", {}, "log") : null,
    el("span", {}, tickText(Number(scale.domain[1].toPrecision(2)))),
  );

// What the best fixed action would have given: a line to compare with, no policy.
function referenceRow() {
  const references = problemsBy.get(state.metric).map((problem) => [problem.reference[state.metric], unitOf(problem)]);
  if (!references.some(([value]) => value)) return null;
  return el(
    "tr",
    { class: "reference" },
    el("th", { scope: "row", title: "the best fixed action in hindsight" }, BEST_FIXED),
    columnsAt(false).map(() => el("td", {})),
    references.map(([value, unit]) => el("td", { class: "number" }, value ? withError(value.mean, value.sem, unit) : "–")),
    columnsAt(true).map(() => el("td", {})),
  );
}
