// The columns about a policy as a whole, before those of the problems or after them. Adding one is adding an entry here.
// `value` is what its heading sorts by, ascending first; `text` is what is written.
const COLUMNS = [
  {
    key: "rank",
    title: "mean rank",
    hint: () =>
      `Mean rank by ${titleOf(state.metric)} over ${plural(Math.max(...data.policies.map((policy) => policy.ranks[state.metric].length)), "problem")}, of policies that played all of them`,
    value: (policy) => policy.mean_rank[state.metric] ?? null,
    text: (rank) => rank.toFixed(1),
    marksBest: true,
  },
  {
    key: "time",
    last: true,
    title: data.answer ? "one decision" : "time / 1000 steps",
    hint: () =>
      data.answer
        ? "Median time of one decision of an agent, as the recommendation says it; measured for the best methods"
        : "Time of 1000 steps of one trial, mean over problems, compilation not counted",
    value: (policy) => (data.answer ? (data.answer.decide_seconds[policy.name] ?? null) : policy.step_seconds),
    text: (seconds) => duration(data.answer ? seconds : 1000 * seconds),
  },
]
  .filter(({ key }) => key !== "time" || data.answer || !Object.keys(data.no_times).length) // times that cannot be compared
  .filter(({ key }) => key !== "rank" || data.problems.length > 1);

const columnsAt = (last) => COLUMNS.filter((column) => Boolean(column.last) === last);
const headings = (last) => columnsAt(last).map(({ key, title, hint }) => sortButton(key, title, hint()));

// The cells of a policy in these columns; the best and those that cannot be told from it are marked.
function columnCells(policy, last) {
  const found = verdictOf(state.metric);
  return columnsAt(last).map(({ value, text, marksBest }) => {
    const own = value(policy),
      place = marksBest && own !== null ? (found?.ranked_best.indexOf(policy.name) ?? -1) : -1,
      mark = place < 0 ? "" : place ? "tied" : "best";
    return el("td", { class: `number ${mark}` }, own === null ? "–" : text(own));
  });
}
