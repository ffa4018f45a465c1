// Regret over time on all problems: small charts with the same curves, whose titles open them large.
function smallCurves(readout) {
  const chosen = chosenCurves(ALL);
  const what = state.relative ? "Cumulative regret, % of Uniform" : "Cumulative regret";
  const charts = data.problems
    .filter(({ name }) => data.cells.some((cell) => cell.problem === name))
    .map(({ name }) => {
      const figure = plot(`${what} on ${name}`, (width) =>
        curveChart(name, chosenCurves(ALL), width, { readout, relative: state.relative && Boolean(cellOf("Uniform", name)), small: true }),
      );
      const open = () => {
        state.problem = name;
        state.many = false;
        state.curves.set(name, chosenCurves(ALL).filter((policy) => cellOf(policy, name)));
        remember();
        showView();
      };
      const title = el("h3", {}, el("button", { type: "button", class: "plain", title: `Show ${name} large`, onclick: open }, name));
      return { node: el("section", { class: "multiple" }, title, figure.node), redraw: figure.redraw };
    });
  const hint = el("p", { class: "hint" });
  const explain = () => {
    const axis = state.log ? "logarithmic, each problem with an axis of its own" : "each problem with an axis of its own";
    const differ = state.curves.has(ALL) ? "" : ` Drawn at first: the best ${plural(chosen.length, "method")} that differ.`;
    hint.textContent = `${what}, ${axis}. Lower is better.${differ}`;
  };
  explain();
  return {
    node: el("div", {}, hint, el("div", { class: "multiples" }, charts.map(({ node }) => node))),
    redraw: () => {
      explain();
      for (const { redraw } of charts) redraw();
    },
  };
}
