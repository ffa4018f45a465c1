"""What every non-linear method believes about three functions of one variable: the paper's appendix figure.

Line: mean of 100 draws; band: ± one standard deviation; red: the truth; dots: the points. What is learned:
`studies/qualitative.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from showdown.report.drawing import style
from showdown.report.drawing.figure import Figure, Request
from showdown.studies import qualitative as study

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

COLUMNS = 2


def draw(request: Request) -> matplotlib.figure.Figure:
    found = study.run(request)
    rows = -(-len(found.beliefs) // COLUMNS)
    figure = style.new_figure(7.0, 0.6 + 0.95 * rows)
    blocks = figure.subfigures(rows, COLUMNS, wspace=0.03, squeeze=False)
    for block, (name, belief) in zip(blocks.ravel(), found.beliefs.items(), strict=False):
        block.suptitle(name, fontsize=8.5)
        for action, axes in enumerate(block.subplots(1, study.SPEC.num_actions, sharey=True)):
            _panel(axes, action, belief, found)
    return figure


def _panel(axes: Axes, action: int, belief: study.Believed, found: study.LearnedFunctions) -> None:
    grid, points = found.grid, found.points
    mean, deviation = belief.mean[:, action], belief.deviation[:, action]
    axes.fill_between(grid, mean - deviation, mean + deviation, color=style.SKY, alpha=0.45, linewidth=0)
    axes.plot(grid, mean, color=style.BLUE, linewidth=1.1)
    axes.plot(grid, found.truth[:, action], color=style.RED, linewidth=0.9, linestyle="--")
    seen = np.asarray(points.actions) == action
    axes.plot(
        np.asarray(points.contexts)[seen, 0], np.asarray(points.rewards)[seen], ".", color=style.BLACK, markersize=1.2
    )
    axes.set(ylim=(-2.6, 2.6), xlim=(grid[0], grid[-1]), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    axes.tick_params(labelsize=6, length=2, pad=1.5)


FIGURE = Figure(
    summary="what every non-linear method believes about three functions of one variable",
    draw=draw,
    options=("full", "seed"),
    place=7,
)
