"""The figures of the paper, one file each: play a small experiment or read a store, then draw with matplotlib.

Every module has a function `draw(order) -> Figure`. Experiments are played by the same loop and kept in a store of
their own, so that drawing again is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from showdown.errors import UsageError
from showdown.report.figures.order import Order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "posterior-feedback": "posteriors of six actions after 500 steps: who collects the data changes what is believed",
    "posterior-approximations": "exact, Diag and PrecisionDiag posteriors, and their regret at d = 15 and d = 30",
    "wheel": "the wheel problem at five values of δ: which action is best where",
    "bbb-linear": "Bayes by Backprop on a linear model at several training budgets, beside exact posteriors",
    "ranks": "box plot of each policy's ranks over the problems of a store, or of the paper",
    "qualitative": "what every non-linear method believes about three functions of one variable",
    "regret": "cumulative regret over time on one problem of a store, with standard errors",
}


def draw(name: str, order: Order) -> Figure:
    if name not in FIGURES:
        raise UsageError(f"no figure is called {name!r}; there are {', '.join(FIGURES)}")
    from showdown.bench.run import use_compilation_cache
    from showdown.report.figures import style

    use_compilation_cache()
    module = importlib.import_module(f"showdown.report.figures.{name.replace('-', '_')}")
    with style.for_print():
        return module.draw(order)
