"""What every non-linear method believes about three functions of one variable: the paper's appendix figure.

Line: mean of 100 draws; band: ± one standard deviation; red: the truth; dots: the points. What is learned:
`studies/qualitative.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from showdown.report.drawing import Figure, FigureRequest, style
from showdown.studies import qualitative as study

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

COLUMNS = 2
LIMIT = 2.6  # of the axis of rewards


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    found = study.run(request)
    rows = -(-len(found.beliefs) // COLUMNS)
    figure = style.new_figure(7.0, 1.1 + 0.95 * rows)
    blocks = figure.subfigures(rows, COLUMNS, wspace=0.03, squeeze=False)
    for block, (name, belief) in zip(blocks.ravel(), found.beliefs.items(), strict=False):
        block.suptitle(name, fontsize=8.5)
        for action, axes in enumerate(block.subplots(1, study.SPEC.num_actions, sharey=True)):
            _panel(axes, action, belief, found)
    figure.supxlabel(
        f"context; one panel per action; one training of each method on {len(found.points.rewards)} points", fontsize=8
    )
    figure.supylabel("reward", fontsize=8)
    figure.legend(handles=_legend(figure), loc="outside upper center", ncols=5, handlelength=1.8)
    return figure


def _legend(figure: matplotlib.figure.Figure) -> list[Any]:
    """What the marks of every panel stand for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=style.BLUE, linewidth=1.1, label=f"mean of {study.DRAWS} draws"),
        Patch(facecolor=style.SKY, alpha=0.45, label="± one standard deviation"),
        Line2D([], [], color=style.RED, linewidth=0.9, linestyle="--", label="truth"),
        Line2D([], [], color=style.BLACK, marker=".", markersize=2, linestyle="", label="points seen"),
        Line2D([], [], color=style.BLUE, marker="v", markersize=4, linestyle="", label="the mean goes on outside"),
    ]


def _panel(axes: Axes, action: int, belief: study.DrawnValues, found: study.LearnedFunctions) -> None:
    grid, points = found.grid, found.points
    mean, deviation = belief.mean[:, action], belief.deviation[:, action]
    axes.fill_between(grid, mean - deviation, mean + deviation, color=style.SKY, alpha=0.45, linewidth=0)
    axes.plot(grid, mean, color=style.BLUE, linewidth=1.1)
    axes.plot(grid, found.truth[:, action], color=style.RED, linewidth=0.9, linestyle="--")
    seen = np.asarray(points.actions) == action
    axes.plot(
        np.asarray(points.contexts)[seen, 0], np.asarray(points.rewards)[seen], ".", color=style.BLACK, markersize=1.2
    )
    for outside, marker, edge in ((mean > LIMIT, "^", LIMIT), (mean < -LIMIT, "v", -LIMIT)):
        places = np.flatnonzero(outside)
        for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []:
            axes.plot(grid[run].mean(), 0.94 * edge, marker, color=style.BLUE, markersize=4)  # cut off, and marked so
    axes.set(ylim=(-LIMIT, LIMIT), xlim=(grid[0], grid[-1]), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    axes.tick_params(labelsize=6, length=2, pad=1.5)


FIGURE = Figure(
    summary="what every non-linear method believes about three functions of one variable",
    draw=draw,
    options=("full", "seed"),
    place=7,
)
