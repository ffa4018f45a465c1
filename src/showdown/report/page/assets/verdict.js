// What won, by how much, how sure, and when not to believe it: the answer before the numbers.
const MOST_WARNINGS = 2; // that are seen at once; the others are a press away

function showVerdict() {
  const found = verdictOf(state.metric);
  const facts = [
    [plural(data.cells.length, "finished cell"), ""],
    data.unfinished.length ? [`${data.unfinished.length} not finished`, "listed at the foot of the page"] : null,
    agreementFact(),
  ].filter(Boolean);
  byId("verdict").replaceChildren(
    ...[
      el("h2", {}, `Verdict by ${titleOf(state.metric)}`),
      found ? el("p", { class: "sentence" }, found.sentence) : null,
      found?.warnings.length ? warningList(found.warnings) : null,
      el(
        "ul",
        { class: "facts-line" },
        facts.map(([text, hint]) => el("li", { title: hint || null }, text)),
      ),
    ].filter(Boolean),
  );
}

function warningList(warnings) {
  const line = (text) => el("li", {}, text);
  const rest = warnings.slice(MOST_WARNINGS);
  return el(
    "div",
    { class: "warnings" },
    el("strong", {}, warnings.length === 1 ? "Careful" : `Careful, ${warnings.length} reasons`),
    el("ul", {}, warnings.slice(0, MOST_WARNINGS).map(line)),
    rest.length ? el("details", {}, el("summary", {}, `${rest.length} more`), el("ul", {}, rest.map(line))) : null,
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
