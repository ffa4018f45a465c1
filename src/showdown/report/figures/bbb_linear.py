"""Bayes by Backprop on a linear model against what it approximates: the paper's figure 5.

Every method fits the same linear model. PrecisionDiag solves the mean-field problem exactly; BBB (noise σ = 0.75, as in
the paper) solves it by a number of optimiser steps per training, its suffix. More steps help, and PrecisionDiag stays
ahead. Left: linear data, d = 10, k = 6. Right: statlog, where its data is at hand.

The paper does not give the budgets. Here every training has the same one, without the long first trainings of `BBB`,
and the default size takes batches of 128 instead of 512.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.analysis.curves import Curve
from showdown.bench.cell import Cell
from showdown.errors import MissingDataError
from showdown.policies import policies
from showdown.problems import problems
from showdown.report.figures import style
from showdown.report.figures.experiment import play
from showdown.report.figures.order import Order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT = {"LinPost": ("exact", style.GREEN, "-"), "LinDiagPrecPost": ("PrecisionDiag", style.BLUE, "-.")}
BUDGETS = {1: (style.PURPLE, ":"), 5: (style.ORANGE, "--"), 50: (style.RED, "-")}
PROBLEMS = {  # name: title, horizon and trials by default, horizon and trials in full
    "linear[num_actions=6]": ("linear data, d = 10, k = 6", (2_000, 8), (2_000, 50)),
    "statlog": ("statlog", (20_000, 4), (43_500, 20)),
}


def draw(order: Order) -> Figure:
    panels = {}
    for name, (title, small, full) in PROBLEMS.items():
        horizon, trials = full if order.full else small
        try:
            panels[title] = regrets(order, name, lineup(order.full), horizon=horizon, trials=trials)
        except MissingDataError as error:
            order.warn(f"the panel {title!r} is left out: {error}")
    figure = style.new_figure(3.5 * len(panels), 2.7)
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for label, curve in curves.items():
            style.draw_curve(axes, curve, label, *_look(label))
        steady = [curve.mean[-1] for label, curve in curves.items() if label != "BBB-1"]
        axes.set(title=title, xlabel="step", ylabel="cumulative regret", xlim=(0, None), ylim=(0, 1.5 * max(steady)))
        handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _look(label: str) -> tuple[str, str]:
    looks = {name: (color, dash) for name, color, dash in EXACT.values()}
    return looks[label] if label in looks else BUDGETS[int(label.removeprefix("BBB-"))]


def lineup(full: bool) -> dict[str, str]:
    """The policies by label: the exact posteriors, and BBB at each budget."""
    chosen = {label: name for name, (label, _, _) in EXACT.items()}
    for steps in BUDGETS:
        fields = f"training_steps={steps},initial_training_steps={steps},batch_size={512 if full else 128}"
        chosen[f"BBB-{steps}"] = f"BBBN3@linear[{fields}]"
    return chosen


def regrets(order: Order, problem_name: str, chosen: dict[str, str], *, horizon: int, trials: int) -> dict[str, Curve]:
    """The regret of each policy of a lineup, by label."""
    text = f"{problem_name[:-1]},horizon={horizon}]" if "[" in problem_name else f"{problem_name}[horizon={horizon}]"
    problem = problems.get(text)
    cells = [Cell(name, text, policies.get(name), problem, trials, order.seed) for name in chosen.values()]
    return dict(zip(chosen, play(cells, order), strict=True))
