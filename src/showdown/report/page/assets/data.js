// What the store said, indexed, and how its numbers are written.
const data = JSON.parse(byId("data").textContent);
const onlyTunings = data.tunings.length && !data.cells.length && !data.unfinished.length; // of a folder without cells
const policyOf = new Map(data.policies.map((policy) => [policy.name, policy]));
const problemOf = new Map(data.problems.map((problem) => [problem.name, problem]));

// names may hold any letter, so a pair is keyed by JSON and not by a separator
const pairKey = (policy, problem) => JSON.stringify([policy, problem]);
const cells = new Map(data.cells.map((cell) => [pairKey(cell.policy, cell.problem), cell]));
const failures = new Map(data.unfinished.map((cell) => [pairKey(cell.policy, cell.problem), cell]));
const cellOf = (policy, problem) => cells.get(pairKey(policy, problem));
const failureOf = (policy, problem) => failures.get(pairKey(policy, problem));

const metricOf = new Map(data.metrics.map((metric) => [metric.name, metric]));
const MAIN = data.metrics[0].name; // by which policies are compared where nothing else was asked for
const BEST_FIXED = "always the best fixed action"; // the best fixed action in hindsight
const titleOf = (metric) => metricOf.get(metric).title;
const smallerIsBetter = (metric) => metricOf.get(metric).smaller_is_better;
const families = [...new Set(data.policies.map((policy) => policy.family))];

// The problems that have a number of a metric: a column of dashes would push the others out of sight. Those on which
// nothing is finished stay, since their cells say why.
const problemsBy = new Map(
  data.metrics.map(({ name }) => [
    name,
    data.problems.filter((problem) => {
      const own = data.cells.filter((cell) => cell.problem === problem.name);
      return !own.length || own.some((cell) => cell.shown[name]);
    }),
  ]),
);

for (const policy of data.policies) {
  const rates = data.problems.map((problem) => cellOf(policy.name, problem.name)?.step_seconds).filter((rate) => rate);
  policy.step_seconds = rates.length ? rates.reduce((sum, rate) => sum + rate, 0) / rates.length : null;
}

// What is said of a metric over all problems, or of one problem; nothing of a time, which has no interval.
const verdictOf = (metric, problem = null) =>
  problem === null ? data.verdicts[metric]?.overall : data.verdicts[metric]?.problems[problem];

// `cumulative regret, % of Uniform`; a unit that the title ends with is not said twice
function metricIn(metric, unit) {
  const title = titleOf(metric),
    noun = title.split(" ").at(-1);
  const rest = (unit ?? "").startsWith(noun) ? unit.slice(noun.length).trim() : (unit ?? "");
  return rest ? `${title}, ${rest}` : title;
}

const shown = (policy, problem, metric) => cellOf(policy, problem)?.shown[metric]?.mean ?? null;

function format(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  if (size >= 10000) return Math.round(value).toLocaleString("en");
  if (size >= 1000) return value.toFixed(0);
  if (size >= 10) return value.toFixed(size >= 100 ? 1 : 2);
  if (size >= 1) return value.toFixed(2);
  return String(Number(value.toPrecision(3)));
}

// Both numbers with the same decimals: two in per cent, as the paper prints them, four of a share, as on the terminal,
// else two digits of the error.
function withError(mean, sem, unit = "") {
  if (mean === null || mean === undefined) return "–";
  const percent = unit.startsWith("%");
  if (sem === null || sem === undefined) return percent ? mean.toFixed(2) : format(mean);
  if (sem === 0 && !percent) return `${format(mean)} ± 0`; // an error of nothing says nothing about decimals
  const places = percent ? 2 : unit.startsWith("share") ? 4 : clamp(1 - Math.floor(Math.log10(sem)), 0, 6);
  const write = (value) => (Math.abs(value) >= 10000 ? Math.round(value).toLocaleString("en") : value.toFixed(places));
  return `${write(mean)} ± ${write(sem)}`;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds === 0) return "0 s";
  for (const [unit, size] of [
    ["s", 1],
    ["ms", 1e-3],
    ["µs", 1e-6],
  ]) {
    if (seconds >= size || unit === "µs") return `${format(seconds / size)} ${unit}`;
  }
}

const plural = (count, noun, several = `${noun}s`) => `${count} ${count === 1 ? noun : several}`;

// what a heading sorts by; apart from the other keys, since a problem may be called `rank`, `time` or `name`
const problemKey = (name) => `problem ${name}`;

// Whether a heading that is pressed for the first time puts the largest first: so that the best comes first.
const startsDescending = (key) => key.startsWith(problemKey("")) && !smallerIsBetter(state.metric);

function sortValue(policy) {
  const { key } = state.sort;
  if (key === "name") return policy.name.toLowerCase();
  const column = COLUMNS.find((one) => one.key === key);
  if (column) return column.value(policy);
  return shown(policy.name, key.slice(problemKey("").length), state.metric);
}

// Policies in the order asked for; those without a value come last either way, in the order of the store.
function sortedPolicies() {
  const keyed = data.policies.map((policy, index) => ({ policy, index, value: sortValue(policy) }));
  const sign = state.sort.descending ? -1 : 1;
  keyed.sort((one, other) => {
    if (one.value === null || other.value === null)
      return (one.value === null) - (other.value === null) || one.index - other.index;
    return (one.value < other.value ? -sign : one.value > other.value ? sign : 0) || one.index - other.index;
  });
  return keyed.map((entry) => entry.policy);
}
