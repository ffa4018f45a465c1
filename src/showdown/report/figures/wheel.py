"""The wheel at five values of δ: every context coloured by the action which the problem itself pays best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from showdown.report.drawing import style
from showdown.report.drawing.figure import Figure, Request
from showdown.studies import wheel as study

if TYPE_CHECKING:
    import matplotlib.figure

COLORS = (style.BLUE, style.RED, style.GREEN, style.BLACK, style.YELLOW)  # of actions 1 to 5, as in the paper


def draw(request: Request) -> matplotlib.figure.Figure:
    best = study.run(request).by_delta
    figure = style.new_figure(7.0, 2.2)
    panels = figure.subplots(1, len(best), sharey=True)
    for axes, (delta, actions) in zip(panels, best.items(), strict=True):
        axes.imshow(picture(actions), extent=(-1, 1, -1, 1), interpolation="antialiased")
        axes.set(title=f"δ = {delta}", xticks=[-1, 0, 1], yticks=[-1, 0, 1], xlabel="first coordinate")
        axes.tick_params(length=0)
        axes.label_outer()
        axes.spines[:].set_visible(False)
    panels[0].set_ylabel("second coordinate")
    handles = [
        panels[0].plot([], [], "o", color=color, markersize=4, label=f"action {number}")[0]
        for number, color in enumerate(COLORS, 1)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(COLORS), handletextpad=0.2)
    return figure


def picture(best: np.ndarray) -> np.ndarray:
    """Colours, (size, size, 4); transparent outside the disk."""
    from matplotlib.colors import to_rgba_array

    return np.concatenate([to_rgba_array(COLORS), np.zeros((1, 4))])[best]


FIGURE = Figure(
    summary="the wheel problem at five values of δ: which action is best where", draw=draw, options=("full",), place=3
)
