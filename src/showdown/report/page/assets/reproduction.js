// Ours beside the published number, coloured by whether they agree.
const SOURCE_NAMES = { paper: "non-linear and wheel tables", "paper-linear": "linear-model tables" };
const publishedOf = (cell, source, metric) =>
  cell?.paper.find((entry) => entry.source === source && entry.metric === metric);

function reproduction() {
  const { source, metric } = state;
  const countIn = (counts) => counts[`${source} ${metric}`] ?? { agree: 0, compared: 0 };
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
            text: [el("span", {}, ours), el("small", {}, "not published")],
            label: `${ours}, not published`,
            mark: "unknown",
          }),
        );
      const theirs = withError(entry.paper_mean, entry.paper_sem, unit);
      return el(
        "td",
        {},
        cellButton(policy, problem, {
          text: [el("span", {}, `${entry.agrees ? "✓" : "✗"} ${ours}`), el("small", {}, theirs)],
          label: `ours ${ours}, published ${theirs}, ${entry.agrees ? "agrees" : "differs"}`,
          mark: entry.agrees ? "agrees" : "differs",
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
    showView();
  });
  const rule = "It agrees when |ours − published| ≤ 3·√(s.e.² + published s.e.²) + 10 % of the published mean.";
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
  });
  return {
    nodes: [
      el("div", { class: "controls" }, control),
      el(
        "p",
        { class: "hint" },
        el("strong", {}, `${count.agree} of ${count.compared} cells agree with the paper. `),
        readings.compared ? `With fields overridden, ${readings.agree} of ${readings.compared} do. ` : "",
        `Ours above, the published number below. ${rule}${others ? ` ${plural(others, "policy", "policies")} of this store ${others === 1 ? "was" : "were"} not published there.` : ""}`,
      ),
      table.node,
    ],
    arrange: table.arrange,
  };
}
