// Ours above the published number, coloured by whether they agree, differ, or are too noisy to tell.
const SOURCE_NAMES = { paper: "non-linear and wheel tables", "paper-linear": "linear-model tables" };
const FINDINGS = {
  agrees: ["✓", "agrees"],
  differs: ["✗", "differs"],
  noisy: ["≈", "too noisy to tell"],
  null: ["", "not compared: another number of steps"],
};
const zText = ({ z }) => (z === null ? "" : `z ${z > 0 ? "+" : ""}${z.toFixed(1)}`);
const publishedOf = (cell, source, metric) =>
  cell?.paper.find((entry) => entry.source === source && entry.metric === metric);

function reproduction() {
  const { source, metric } = state;
  const countIn = (counts) => counts[`${source} ${metric}`] ?? { agree: 0, noisy: 0, compared: 0 };
  const count = countIn(data.agreement),
    readings = countIn(data.agreement_of_readings);
  const there = data.problems.filter((problem) =>
    data.policies.some((policy) => publishedOf(cellOf(policy.name, problem.name), source, metric)),
  );
  const ranked = source === "paper" && metric === MAIN && data.policies.some((policy) => policy.paper_rank);
  const rowOf = (policy) => [
    ranked
      ? el(
          "td",
          { class: "number pair" },
          el("span", {}, policy.paper_rank ? policy.paper_rank.ours.toFixed(1) : "–"),
          el("small", {}, policy.paper_rank ? policy.paper_rank.paper.toFixed(1) : ""),
        )
      : null,
    there.map((problem) => {
      const cell = cellOf(policy.name, problem.name),
        entry = publishedOf(cell, source, metric);
      if (!cell) return el("td", {}, cellButton(policy, problem, { text: "", label: "" }));
      const mine = entry ?? cell.shown[metric];
      const unit = entry?.unit ?? unitOf(problem);
      const ours = withError(mine?.mean, mine?.sem, unit);
      if (!entry)
        return el(
          "td",
          {},
          cellButton(policy, problem, {
            text: [el("span", { "data-part": true }, ours), " ", el("small", { "data-part": true }, "not published")],
            label: `${ours} not published`,
            mark: "unknown",
          }),
        );
      const theirs = withError(entry.paper_mean, entry.paper_sem, unit),
        below = `${theirs}${entry.z === null ? "" : `, ${zText(entry)}`}`,
        [sign, words] = FINDINGS[entry.finding];
      return el(
        "td",
        {},
        cellButton(policy, problem, {
          text: [
            el("span", { "data-part": true }, `${sign} ${ours}`.trim()),
            " ",
            el("small", { "data-part": true }, below),
          ],
          label: `${sign} ${ours} ${below}; ours, published: ${words}`.trim(),
          mark: entry.finding ?? "unknown",
        }),
      );
    }),
  ];
  const columns = [
    ranked ? el("th", { scope: "col", class: "unsorted" }, "mean rank") : null,
    there.map((problem) => sortButton(problemKey(problem.name), problem.name, `Sort by ${problem.name}`)),
  ];
  const control = select("published in the", Object.entries(SOURCE_NAMES), source, (value) => {
    state.source = value;
    remember();
    showView();
  });
  if (!there.length) {
    return {
      nodes: [
        el("div", { class: "controls" }, control),
        el(
          "p",
          { class: "nothing" },
          `Nothing in this store was published in the ${SOURCE_NAMES[source]} for ${titleOf(metric)}.`,
        ),
      ],
      arrange: () => {},
    };
  }
  const only = (policy) =>
    data.problems.some((problem) => publishedOf(cellOf(policy.name, problem.name), source, metric));
  const others = data.policies.filter((policy) => !only(policy)).length;
  const table = policyTable({
    caption: `Agreement with the paper, ${titleOf(metric)}`,
    columns,
    rowOf,
    kind: "board paper",
    only,
    records: () => cellRecords((cell) => publishedFields(publishedOf(cell, source, metric))),
  });
  return {
    nodes: [
      el("div", { class: "controls" }, control),
      el(
        "div",
        { class: "hint" },
        el("strong", {}, `${counted(count)}. `),
        readings.compared ? `With fields overridden: ${counted(readings)}. ` : "",
        "Ours above, the published number and z below. ",
        others ? `${plural(others, "policy", "policies")} of this store ${others === 1 ? "was" : "were"} not published there.` : "",
        el("details", {}, el("summary", {}, "When does a cell agree?"), RULE),
      ),
      table.node,
    ],
    arrange: table.arrange,
  };
}

const RULE =
  "✓ agrees: |ours − published| ≤ 3·√(s.e.² + published s.e.²) + 10 % of the published mean. ≈ too noisy to tell: it would " +
  "agree, but three standard errors exceed half of the published mean, so that hardly anything could differ. z is the " +
  "difference in standard errors. Uniform, and what a number is relative to, are not counted.";

function counted({ agree, noisy, compared }) {
  const differ = compared - agree - noisy;
  return `${agree} of ${plural(compared, "cell")} agree with the paper, ${differ} ${differ === 1 ? "differs" : "differ"}, ${noisy} ${noisy === 1 ? "is" : "are"} too noisy to tell`;
}

const publishedFields = (entry) =>
  entry
    ? { paper_mean: entry.paper_mean, paper_sem: entry.paper_sem, finding: entry.finding, z: entry.z }
    : { paper_mean: null, paper_sem: null, finding: null, z: null };
