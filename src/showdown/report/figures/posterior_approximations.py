"""Exact, Diag and PrecisionDiag posteriors, and what each does to regret: the paper's figure 2.

(a) a posterior about two coefficients with the two diagonal approximations: Diag keeps the marginal variances, so it
is wide in every direction; PrecisionDiag keeps the conditional ones and is narrow in every direction. (b), (c) Thompson
sampling with each, k = 20 actions, d = 15 and d = 30: Diag suffers badly as d grows, PrecisionDiag does at least as
well as the exact posterior.

The paper does not give the contexts' law, the number of steps, the noise or the prior: see `mixed.py`; the policies are
LinPost, LinDiagPost and LinDiagPrecPost without an intercept (λ = σ² = 0.25).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from showdown.analysis.curves import Curve
from showdown.bench.cell import Cell
from showdown.policies import policies
from showdown.report.figures import style
from showdown.report.figures.ellipse import draw_ellipse
from showdown.report.figures.experiment import play
from showdown.report.figures.mixed import MixedLinear
from showdown.report.figures.order import Order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POSTERIORS = {  # preset: name in the paper, colour in the paper, dash
    "LinPost": ("exact", style.GREEN, "-"),
    "LinDiagPost": ("Diag", style.ORANGE, "--"),
    "LinDiagPrecPost": ("PrecisionDiag", style.BLUE, "-."),
}
DIMENSIONS = (15, 30)


def draw(order: Order) -> Figure:
    curves = regrets(order, trials=50 if order.full else 10, horizon=4000 if order.full else 1500)
    figure = style.new_figure(7.0, 2.4)
    belief, *panels = figure.subplots(1, 3)
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    shapes = {
        "LinPost": covariance,
        "LinDiagPost": np.diag(np.diag(covariance)),
        "LinDiagPrecPost": np.diag(1 / np.diag(np.linalg.inv(covariance))),
    }
    for name, (label, color, dash) in POSTERIORS.items():
        draw_ellipse(belief, np.zeros(2), shapes[name], color, dash, label)
    belief.set(title="(a) beliefs about two coefficients", xlabel="β₁", ylabel="β₂", aspect="equal")
    belief.legend(loc="upper left", handlelength=1.6, borderpad=0)
    belief.set(xlim=(-2.3, 2.3), ylim=(-2.3, 3.6))
    for axes, letter, dimension in zip(panels, "bc", DIMENSIONS, strict=True):
        for name, (label, color, dash) in POSTERIORS.items():
            style.draw_curve(axes, curves[name, dimension], label, color, dash)
        axes.set(title=f"({letter}) d = {dimension}", xlabel="step", ylabel="cumulative regret")
        axes.set(xlim=(0, None), ylim=(0, max(curve.mean[-1] for curve in curves.values()) * 1.05))
        axes.legend(loc="upper left")
    return figure


def regrets(
    order: Order, *, trials: int, horizon: int, dimensions: Sequence[int] = DIMENSIONS
) -> dict[tuple[str, int], Curve]:
    """The regret of each preset at each dimension."""
    keys, cells = [], []
    for dimension in dimensions:
        problem = MixedLinear(context_dim=dimension, num_actions=20, horizon=horizon)
        for name in POSTERIORS:
            keys.append((name, dimension))
            text = f"{name}[intercept=False]"
            cells.append(
                Cell(text, f"mixed-linear[context_dim={dimension}]", policies.get(text), problem, trials, order.seed)
            )
    return dict(zip(keys, play(cells, order), strict=True))
