"""Regret of Bayes by Backprop on a linear model at several training budgets: the paper's figure 5.

Left: linear data. Right: statlog, where its data is available. What the methods are: `studies/bbb_linear.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.report.drawing import Figure, FigureRequest, style
from showdown.report.drawing.style import scale_regret, with_trials
from showdown.studies import bbb_linear as study

if TYPE_CHECKING:
    import matplotlib.figure

LOOKS = {  # label: colour, dash
    "exact": (style.GREEN, "-"),
    "PrecisionDiag": (style.BLUE, "-."),
    "BBB-1": (style.PURPLE, ":"),
    "BBB-5": (style.ORANGE, "--"),
    "BBB-50": (style.RED, "-"),
}


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    panels = study.run(request).curves
    figure = style.new_figure(3.5 * len(panels), 2.7)
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for label, curve in curves.items():
            style.draw_curve(axes, curve, label, *LOOKS[label])
        scale_regret(axes, curves.values())
        axes.set_title(with_trials(title, curves.values()))
        handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


FIGURE = Figure(
    summary="Bayes by Backprop on a linear model at several training budgets, and exact posteriors",
    draw=draw,
    options=("full", "seed"),
    place=5,
)
