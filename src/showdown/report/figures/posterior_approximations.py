"""Exact, Diag and PrecisionDiag posteriors, and what each does to regret: the paper's figure 2.

(a) a posterior about two coefficients with the two diagonal approximations; (b), (c) cumulative regret of Thompson
sampling with each, d = 15 and d = 30. What is played: `studies/posterior_approximations.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from showdown.report.drawing import Figure, FigureRequest, style
from showdown.report.drawing.style import draw_ellipse, with_trials
from showdown.studies import posterior_approximations as study

if TYPE_CHECKING:
    import matplotlib.figure

LOOKS = {  # name: colour in the paper, dash
    "exact": (style.GREEN, "-"),
    "Diag": (style.ORANGE, "--"),
    "PrecisionDiag": (style.BLUE, "-."),
}


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    found = study.run(request)
    figure = style.new_figure(7.0, 2.4)
    belief, *panels = figure.subplots(1, 1 + len(study.DIMENSIONS))
    for name, covariance in found.covariances.items():
        draw_ellipse(belief, np.zeros(2), covariance, *LOOKS[name], name)
    belief.set(title="(a) beliefs about two coefficients", xlabel="β₁", ylabel="β₂", aspect="equal")
    belief.legend(loc="upper left", handlelength=1.6, borderpad=0)
    belief.set(xlim=(-2.3, 2.3), ylim=(-2.3, 3.6))
    highest = max(curve.mean[-1] for curve in found.curves.values())
    for axes, letter, dimension in zip(panels, "bc", study.DIMENSIONS, strict=True):
        for name, look in LOOKS.items():
            style.draw_curve(axes, found.curves[name, dimension], name, *look)
        mine = [found.curves[name, dimension] for name in LOOKS]
        axes.set(title=with_trials(f"({letter}) d = {dimension}", mine), xlabel="step", ylabel="cumulative regret")
        axes.set(xlim=(0, None), ylim=(0, highest * 1.05))
        axes.legend(loc="upper left")
    return figure


FIGURE = Figure(
    summary="exact, Diag and PrecisionDiag posteriors, and their regret at d = 15 and d = 30",
    draw=draw,
    options=("full", "seed"),
    place=2,
)
