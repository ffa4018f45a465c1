"""Who collects the data changes what is believed: the paper's figure 1.

Beliefs about two coefficients of each of six actions. (a) two runs with the exact posterior; (b) the exact posterior
and Diag, each on the data it collected itself; (c) the exact posterior, and Diag fitted to the data which that run
collected. (b) disagrees more than (c). What is played: `studies/posterior_feedback.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from showdown.report.drawing import Figure, FigureRequest, style
from showdown.report.drawing.style import draw_ellipse
from showdown.studies import posterior_feedback as study

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    found = study.run(request)
    rows = [
        ("(a)", "exact, run 1", "exact, run 2", found.exact_again),
        ("(b)", "exact on its own data", "Diag on its own data", found.diagonal_on_own_data),
        ("(c)", "exact on its own data", "Diag on the data of exact", found.diagonal_on_exact_data),
    ]
    figure = style.new_figure(7.0, 4.8)
    grid = figure.subplots(len(rows), study.NUM_ACTIONS, sharex="col", sharey="col")
    for axes_row, (letter, left, right, other) in zip(grid, rows, strict=True):
        for action, axes in enumerate(axes_row):
            _draw_pair(axes, found, other, action, (left, right))
        axes_row[0].set_ylabel(letter, rotation=0, labelpad=10, fontweight="bold")
        axes_row[0].set_title(" ")  # room for the legend, which is as wide as the row
        legend = axes_row[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.1)
        legend.set_in_layout(False)
    first, second = (f"coefficient {index + 1}" for index in found.coefficients)
    figure.supxlabel(f"{first}; lines at one and two standard deviations, one trial of each policy", fontsize=8)
    figure.supylabel(second, fontsize=8)
    for action, axes in enumerate(grid[-1]):
        axes.set_xlabel(f"action {action + 1}\n({found.steps_of_action[action]} steps)")
    return figure


def _draw_pair(
    axes: Axes, found: study.DataFeedback, other: study.CoefficientPosterior, action: int, labels: tuple[str, str]
) -> None:
    pair = found.coefficients
    for belief, color, dash, label in ((found.exact, style.GREEN, "-", labels[0]), (other, style.RED, "--", labels[1])):
        covariance = belief.covariance[action][np.ix_(pair, pair)]
        draw_ellipse(axes, belief.mean[action][pair], covariance, color, dash, label)
    axes.plot(*found.truth[:, action][pair], "x", color=style.BLACK, markersize=4, label="truth")
    axes.tick_params(labelsize=6, length=2, pad=1.5)
    axes.locator_params(nbins=3)


FIGURE = Figure(
    summary="posteriors of six actions after 500 steps: who collects the data changes what is believed",
    draw=draw,
    options=("full", "seed"),  # its usual size is also the one for print
    place=1,
)
