"""Methods beside each other, drawn: means with intervals, and what a step costs against what it earns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from showdown.report.drawing import style

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

COLUMNS = 3  # panels beside each other


def draw_means(summary: pd.DataFrame, title: str) -> matplotlib.figure.Figure:
    """A panel for each problem with the mean and the 95 % interval of each policy, the best first.

    `summary` has the columns policy, problem, mean, low, high, unit and best, in the order to be drawn.
    """
    problems = list(dict.fromkeys(summary["problem"]))
    columns = min(len(problems), COLUMNS)
    rows = math.ceil(len(problems) / columns)
    most = summary.groupby("problem").size().max()
    figure = style.new_figure(4.6 if columns == 1 else 3.0 * columns, rows * (0.8 + 0.2 * max(most, 3)) + 0.2)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, problem in zip(panels, problems, strict=False):
        _intervals(axes, summary[summary["problem"] == problem].reset_index(drop=True))
        axes.set_title(problem)
        axes.set_xlabel(f"{title}, {axes.get_xlabel()}")
    for axes in panels[len(problems) :]:
        axes.set_axis_off()
    figure.supxlabel("mean and 95 % interval; blue: the best, or not to be told from it", fontsize=7)
    return figure


def _intervals(axes: matplotlib.axes.Axes, rows: pd.DataFrame) -> None:
    for place, row in rows.iterrows():
        color = style.BLUE if row["best"] else style.GREY
        axes.plot(row["mean"], place, "o", color=color, markersize=4)
        if not math.isnan(row["low"]):
            axes.plot([row["low"], row["high"]], [place, place], color=color)
    axes.set_yticks(range(len(rows)), list(rows["policy"]))
    axes.set_ylim(len(rows) - 0.5, -0.5)  # the best is on top
    axes.set_xlabel(rows["unit"].iloc[0])
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)


def draw_time(summary: pd.DataFrame, title: str) -> matplotlib.figure.Figure:
    """A panel for each problem: the time of a step across, on a logarithmic scale, and the mean upwards.

    `summary` has the column step_seconds besides those of `draw_means`.
    """
    problems = list(dict.fromkeys(summary["problem"]))
    columns = min(len(problems), COLUMNS)
    rows = math.ceil(len(problems) / columns)
    figure = style.new_figure(5.0 if columns == 1 else 3.2 * columns, 3.2 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, problem in zip(panels, problems, strict=False):
        _times(axes, summary[summary["problem"] == problem])
        axes.set(title=problem, xlabel="µs per step and trial", ylabel=f"{title}, {summary['unit'].iloc[0]}")
    for axes in panels[len(problems) :]:
        axes.set_axis_off()
    return figure


def _times(axes: matplotlib.axes.Axes, rows: pd.DataFrame) -> None:
    axes.set_xscale("log")
    for number, (_, row) in enumerate(rows.iterrows()):
        across = 1e6 * row["step_seconds"]
        error = None if math.isnan(row["low"]) else [[row["mean"] - row["low"]], [row["high"] - row["mean"]]]
        axes.errorbar(across, row["mean"], yerr=error, fmt="o", color=style.line(number)[0], markersize=4)
        axes.annotate(row["policy"], (across, row["mean"]), xytext=(5, 3), textcoords="offset points", fontsize=7)
    axes.margins(x=0.25)
    from matplotlib.ticker import FuncFormatter

    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
