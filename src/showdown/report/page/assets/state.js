// What is being looked at, shared by all views and kept in the address, so that a link shows the same and Back works.
const firstProblem = (
  data.problems.find((problem) => data.cells.some((cell) => cell.problem === problem.name)) ?? data.problems[0]
)?.name; // none, where there are only tunings
const firstSource =
  !data.agreement[`paper ${MAIN}`]?.compared && data.agreement[`paper-linear ${MAIN}`]?.compared ? "paper-linear" : "paper";

// The best first: by mean rank or, where one problem has none, by its values.
const firstSort = () => {
  const metric = data.answer && metricOf.has(data.answer.metric) ? data.answer.metric : MAIN;
  if (data.problems.length > 1) return { key: "rank", descending: false };
  return { key: problemKey(firstProblem), descending: !smallerIsBetter(metric) };
};

const freshState = () => ({
  view: onlyTunings ? "tuning" : data.answer || !data.overviews[MAIN] ? "leaderboard" : "overview",
  metric: data.answer && metricOf.has(data.answer.metric) ? data.answer.metric : MAIN,
  family: "",
  text: "",
  sort: firstSort(),
  problem: firstProblem,
  source: firstSource,
  color: "value",
  dots: "problem",
  log: true,
  many: data.problems.length > 1, // small curves of all problems instead of one
  relative: false,
  bands: true,
  curves: new Map(), // problem -> names of the curves drawn; a problem that is not here shows the best
  first: null, // the two policies of the comparison; null: the best and the next
  second: null,
  tuning: 0, // the place of the search that is shown
  open: null, // [policy, problem] of the cell that is open
});
const state = freshState();
let drawnFor = null; // the state that the view shows, as an address

const CHOICES = { color: ["value", "rank"], dots: ["problem", "table", "off"], source: ["paper", "paper-linear"] };
const SWITCHES = ["log", "relative", "bands", "many"];

// The state as the part of an address after #, without what is as usual.
function toHash({ withOpen = true } = {}) {
  const words = new URLSearchParams({ view: state.view }),
    usual = freshState();
  for (const name of ["metric", "family", "text", "problem", "first", "second", ...Object.keys(CHOICES)])
    if (state[name] !== usual[name]) words.set(name, state[name]);
  for (const name of SWITCHES) if (state[name] !== usual[name]) words.set(name, state[name] ? "on" : "off");
  if (state.sort.key !== usual.sort.key || state.sort.descending !== usual.sort.descending)
    words.set("sort", `${state.sort.descending ? "-" : "+"}${state.sort.key}`);
  if (state.many && words.has("problem")) words.set("many", "on");
  if (state.tuning) words.set("tuning", state.tuning);
  const drawn = state.curves.get(state.many ? "" : state.problem);
  if (drawn) for (const name of drawn.length ? drawn : [""]) words.append("curve", name);
  if (withOpen && state.open) for (const name of state.open) words.append("open", name);
  return `#${words}`;
}

// An address may hold anything: what names nothing on this page is left as usual.
function fromHash(hash) {
  const text = hash.replace(/^#/, "");
  const words = new URLSearchParams(text.includes("=") ? text : `view=${text}`);
  const kept = state.curves;
  Object.assign(state, freshState(), { curves: kept });
  const take = (name, known) => {
    const value = words.get(name);
    if (value !== null && known(value)) state[name] = value;
  };
  take("view", (view) => Object.hasOwn(VIEWS, view));
  take("metric", (metric) => metricOf.has(metric));
  take("family", (family) => families.includes(family));
  take("text", () => true);
  take("problem", (problem) => problemOf.has(problem));
  for (const name of ["first", "second"]) take(name, (policy) => policyOf.has(policy));
  for (const [name, choices] of Object.entries(CHOICES)) take(name, (value) => choices.includes(value));
  for (const name of SWITCHES) if (words.has(name)) state[name] = words.get(name) === "on";
  if (words.has("problem") && !words.has("many")) state.many = false; // one problem was asked for
  const tuning = Number(words.get("tuning") ?? 0);
  if (Number.isInteger(tuning) && data.tunings[tuning]) state.tuning = tuning;
  const sort = words.get("sort") ?? "",
    key = sort.slice(1);
  const sortable =
    key === "name" ||
    COLUMNS.some((column) => column.key === key) ||
    data.problems.some((problem) => problemKey(problem.name) === key);
  if (sortable) state.sort = { key, descending: sort.startsWith("-") };
  const place = state.many ? "" : state.problem;
  if (words.has("curve")) state.curves.set(place, words.getAll("curve").filter((name) => hasCurve(name, place)));
  else state.curves.delete(place);
  const [policy, problem] = words.getAll("open");
  if (cellOf(policy, problem) ?? failureOf(policy, problem)) state.open = [policy, problem];
}

// Put the state into the address: as a new step that Back undoes, or in place of the last one while something is typed.
function remember({ replace = false, opened = false } = {}) {
  const hash = toHash();
  drawnFor = toHash({ withOpen: false }); // who calls this draws it
  if (hash === location.hash) return;
  try {
    if (replace) history.replaceState(history.state, "", hash);
    else history.pushState({ opened }, "", hash);
  } catch {
    /* some viewers forbid it */
  }
}

// A comma parts words; a word that is in no name is looked for in families and descriptions.
function isShown(policy) {
  if (state.family && policy.family !== state.family) return false;
  const words = state.text
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  if (!words.length) return true;
  const has = (text, word) => (text ?? "").toLowerCase().includes(word);
  return words.some((word) =>
    data.policies.some(({ name }) => has(name, word))
      ? has(policy.name, word)
      : [policy.family, policy.about, policy.variant].some((text) => has(text, word)),
  );
}
