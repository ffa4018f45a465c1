// The columns about a policy as a whole, before those of the problems. Adding one is adding an entry here.
// `value` is what its heading sorts by, ascending first; `text` is what is written.
const COLUMNS = [
  {
    key: "rank",
    title: "mean rank",
    hint: () => `Mean rank by ${titleOf(state.metric)} over ${plural(data.problems.length, "problem")}`,
    value: (policy) => policy.mean_rank[state.metric] ?? null,
    text: (rank) => rank.toFixed(1),
    marksBest: true,
  },
  {
    key: "time",
    title: "time / 1000 steps",
    hint: () => "Time of 1000 steps of one trial, mean over problems, compilation not counted",
    value: (policy) => policy.step_seconds,
    text: (seconds) => duration(1000 * seconds),
  },
].filter(({ key }) => key !== "time" || !Object.keys(data.no_times).length); // times that cannot be compared

const headings = () => COLUMNS.map(({ key, title, hint }) => sortButton(key, title, hint()));

// One function that gives the cells of a policy in these columns.
function leadingCells() {
  const smallest = new Map(
    COLUMNS.filter(({ marksBest }) => marksBest).map(({ key, value }) => [
      key,
      Math.min(...data.policies.map(value).filter((one) => one !== null)),
    ]),
  );
  return (policy) =>
    COLUMNS.map(({ key, value, text }) => {
      const own = value(policy);
      const best = own !== null && own === smallest.get(key);
      return el("td", { class: best ? "number best" : "number" }, own === null ? "–" : text(own));
    });
}
