// How to read the page, and one line about each method and each problem on it.
const outside = (href, text) => el("a", { href, target: "_blank", rel: "noopener" }, text);
const docsLink = (page, text) => (data.docs ? outside(`${data.docs.replace(/\/$/, "")}/${page}.html`, text) : null);

// `NeuralLinear: Exact Bayesian … (NeuralLinear with training_steps=50). docs · paper`
function cardLine({ name, about, variant, docs, paper }) {
  const more = [
    docs && docsLink(docs, "docs"),
    paper && outside(paper.url, paper.title),
  ].filter(Boolean);
  // `Adult: which of 14 …` needs no second name
  const words = about?.toLowerCase().startsWith(`${name.toLowerCase()}: `) ? about.slice(name.length + 2) : about;
  return [
    el("strong", {}, name),
    words ? `: ${words}` : "",
    variant ? ` (${variant})` : "",
    more.map((link) => [" · ", link]),
  ];
}

// Presets of one method share its line.
function cards(title, items) {
  const groups = Map.groupBy(items, ({ about, name }) => about ?? name);
  return el(
    "section",
    {},
    el("h3", {}, title),
    el(
      "ul",
      { class: "cards" },
      [...groups.values()].map((members) =>
        el("li", {}, cardLine({ ...members[0], variant: "", name: members.map(({ name }) => name).join(", ") })),
      ),
    ),
  );
}

const ENDINGS = [
  ["-MR", /-MR(?![\w])/, "hyper-parameters tuned on the mushroom problem, as in the paper"],
  ["-SL", /-SL(?![\w])/, "hyper-parameters tuned on the statlog problem, as in the paper"],
  ["@linear", /@linear/, "the network without hidden layers: a linear model"],
  ["[field=value]", /\[/, "a preset with this field changed"],
];

function readingLines() {
  const used = ENDINGS.filter(([, pattern]) => data.policies.some(({ name }) => pattern.test(name)));
  return [
    ["regret", "what the best action would have paid, minus what was paid, summed over all steps. Lower is better."],
    ["% of Uniform", "100 is what playing at random loses on the same problem; 0 is never wrong."],
    ["± and n", "the mean over n independent trials, ± one standard error. Below it, the mean as a dot with its 95 % interval."],
    ["bold, underlined", "the best of a column; what cannot be told from it (paired over trials, corrected for the number of methods)."],
    ["mean rank", "1 is the best on a problem; the mean is over problems. It says nothing about by how much."],
    ...used.map(([ending, , words]) => [ending, words]),
  ];
}

function buildGuide() {
  byId("guide").append(
    el("summary", {}, "How to read this"),
    el(
      "div",
      { class: "guide" },
      el(
        "dl",
        { class: "reading" },
        readingLines().map(([term, words]) => el("div", {}, el("dt", {}, term), el("dd", {}, words))),
      ),
      el(
        "p",
        {},
        "Most methods and problems, and the numbers that ours are compared with, are from ",
        outside(data.paper.url, data.paper.title),
        ".",
        data.docs ? [" More in the ", docsLink("index", "documentation"), "."] : "",
      ),
      cards("Methods", data.policies),
      cards("Problems", data.problems),
    ),
  );
}
