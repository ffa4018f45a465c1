// What won, by how much, how sure, and when not to believe it: the answer before the numbers.
function showVerdict() {
  const found = verdictOf(state.metric);
  const facts = [
    [plural(data.cells.length, "finished cell"), ""],
    data.unfinished.length ? [`${data.unfinished.length} not finished`, "listed at the foot of the page"] : null,
    agreementFact(),
  ].filter(Boolean);
  byId("verdict").replaceChildren(
    ...[
      ...(data.answer ? answerNodes(data.answer) : verdictNodes(found)),
      el(
        "ul",
        { class: "facts-line" },
        facts.map(([text, hint]) => el("li", { title: hint || null }, text)),
      ),
    ].filter(Boolean),
  );
}

function verdictNodes(found) {
  return [
    el("h2", {}, `Verdict by ${titleOf(state.metric)}`),
    ...(found ? found.lines.map(verdictLine) : []),
    found?.warnings.length ? warningList(found.warnings) : null,
  ];
}

// What `recommend` said on the terminal, word for word.
function answerNodes(answer) {
  const [advice, ...rest] = answer.lines;
  return [
    el("h2", {}, "Recommendation"),
    el("p", { class: "sentence" }, el("strong", {}, advice)),
    ...rest.map((text) => el("p", { class: "sentence" }, text)),
    answer.warnings.length ? warningList(answer.warnings) : null,
  ];
}

// One line of the verdict, with what it is about in bold: `On these problems: …`.
function verdictLine(text) {
  const end = text.indexOf(": ");
  return el("p", { class: "sentence" }, el("strong", {}, text.slice(0, end + 1)), text.slice(end + 1));
}

// Open where there is room; on a phone the table comes first, and the reasons are a press away.
function warningList(warnings) {
  const count = warnings.length === 1 ? "one reason" : `${warnings.length} reasons`;
  return el(
    "details",
    { class: "warnings", open: !matchMedia("(max-width: 760px)").matches },
    el("summary", {}, `Careful: ${count} to doubt this`),
    el(
      "ul",
      {},
      warnings.map((text) => el("li", {}, text)),
    ),
  );
}

// How many published regrets are found again. Time is another machine's, so whether it agrees says nothing.
function agreementFact() {
  const measured = data.metrics.filter(({ per_cell }) => !per_cell);
  const total = { agree: 0, noisy: 0, compared: 0 };
  for (const [table, count] of Object.entries(data.agreement))
    if (measured.some(({ name }) => table.endsWith(` ${name}`)))
      for (const part of Object.keys(total)) total[part] += count[part];
  if (!total.compared) return null;
  const noisy = total.noisy ? `, ${total.noisy} too noisy to tell` : "";
  return [`${total.agree} of ${total.compared} published regrets agree${noisy}`, "cumulative and simple regret, without Uniform"];
}
