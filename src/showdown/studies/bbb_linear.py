"""Regret of Bayes by Backprop on a linear model, and of what it approximates: the experiment of the paper's figure 5.

Every method fits the same linear model. PrecisionDiag solves the mean-field problem exactly; BBB (noise σ = 0.75, as in
the paper) solves it by a number of optimiser steps per training, its suffix. More steps help, and PrecisionDiag stays
ahead. On linear data, d = 10, k = 6, and on statlog where its data is available.

The paper does not give the budgets. Here every training has the same one, without the long first trainings of `BBB`,
and the default size takes batches of 128 instead of 512.
"""

from __future__ import annotations

from dataclasses import dataclass

from showdown.analysis.summary import Curve
from showdown.basics.errors import MissingDataError
from showdown.bench.cell import Cell
from showdown.policies import policies
from showdown.problems import problems
from showdown.studies.shared import Settings, regret_curves

EXACT = {"exact": "LinPost", "PrecisionDiag": "LinDiagPrecPost"}  # label: preset
BUDGETS = (1, 5, 50)  # optimiser steps per training
PROBLEMS = {  # name: title, horizon and trials by default, horizon and trials in full
    "linear[num_actions=6]": ("linear data, d = 10, k = 6", (2_000, 8), (2_000, 50)),
    "statlog": ("statlog", (20_000, 4), (43_500, 20)),
}


@dataclass(frozen=True)
class TrainingBudgets:
    curves: dict[str, dict[str, Curve]]  # regret by the problem's title, then by the method's label


def run(settings: Settings) -> TrainingBudgets:
    curves = {}
    for name, (title, small, full) in PROBLEMS.items():
        horizon, trials = full if settings.full else small
        try:
            curves[title] = regrets(settings, name, lineup(settings.full), horizon=horizon, trials=trials)
        except MissingDataError as error:
            settings.warn(f"the panel {title!r} is left out: {error}")
    return TrainingBudgets(curves)


def lineup(full: bool) -> dict[str, str]:
    """The policies by label: the exact posteriors, and BBB at each budget."""
    chosen = dict(EXACT)
    for steps in BUDGETS:
        fields = f"training_steps={steps},initial_training_steps={steps},batch_size={512 if full else 128}"
        chosen[f"BBB-{steps}"] = f"BBBN3@linear[{fields}]"
    return chosen


def regrets(
    settings: Settings, problem_name: str, chosen: dict[str, str], *, horizon: int, trials: int
) -> dict[str, Curve]:
    """The regret of each policy of a lineup, by label."""
    text = f"{problem_name[:-1]},horizon={horizon}]" if "[" in problem_name else f"{problem_name}[horizon={horizon}]"
    problem = problems.get(text)
    cells = [Cell(name, text, policies.get(name), problem, trials, settings.seed) for name in chosen.values()]
    return dict(zip(chosen, regret_curves(cells, settings), strict=True))
