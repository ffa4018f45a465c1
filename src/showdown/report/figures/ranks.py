"""The ranks of every policy over problems, as box plots in order of the mean rank: the paper's figure 6.

Red line: median; black dot: mean; box: the middle half; whiskers: within 1.5 times its width; rings: beyond. From the
cells of a store over those of the paper's ten ranked problems that it holds, or over all where it holds none; or from
the published means over the ten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from showdown.analysis.published import RANKED_PROBLEMS, published
from showdown.analysis.ranks import ranks
from showdown.analysis.summary import summarise
from showdown.basics.errors import UsageError
from showdown.report.drawing import Figure, FigureRequest, selected, style
from showdown.report.drawing.style import trials_of

if TYPE_CHECKING:
    import matplotlib.figure

BOX = "#E3ECF3"


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    each, counted = ranked(request)
    means = each.groupby("policy")["rank"].mean().sort_values(kind="stable", ascending=False)
    figure = style.new_figure(7.0, 1.15 + 0.135 * len(means))
    axes = figure.subplots()
    axes.boxplot(
        [each.loc[each["policy"] == policy, "rank"] for policy in means.index],
        orientation="horizontal",
        tick_labels=list(means.index),
        widths=0.62,
        patch_artist=True,
        boxprops={"facecolor": BOX, "edgecolor": style.GREY, "linewidth": 0.7},
        whiskerprops={"color": style.GREY, "linewidth": 0.7},
        capprops={"color": style.GREY, "linewidth": 0.7},
        medianprops={"color": style.RED, "linewidth": 1.6},
        flierprops={"marker": "o", "markersize": 2.5, "markerfacecolor": "none", "markeredgecolor": style.GREY},
    )
    axes.plot(means, range(1, len(means) + 1), "o", color=style.BLACK, markersize=3)
    problems = each["problem"].nunique()
    axes.set_xlabel(f"rank over {problems} problem{'s' if problems > 1 else ''} (1 is the best), {counted}")
    axes.locator_params(axis="x", integer=True)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=5, handlelength=1.6)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set(xlim=(0, each["rank"].max() + 1), ylim=(0.3, len(means) + 0.7))
    return figure


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=style.BLACK, marker="o", markersize=3, linestyle="", label="mean"),
        Line2D([], [], color=style.RED, linewidth=1.6, label="median"),
        Patch(facecolor=BOX, edgecolor=style.GREY, linewidth=0.7, label="middle half"),
        Line2D([], [], color=style.GREY, linewidth=0.7, label="within 1.5 of its width"),
        Line2D(
            [], [], marker="o", markersize=2.5, color=style.GREY, markerfacecolor="none", linestyle="", label="beyond"
        ),
    ]


def ranked(request: FigureRequest) -> tuple[pd.DataFrame, str]:
    """A row per cell of the policies asked for, with its rank among all policies; and how many trials that is over."""
    counted = "means of 50 trials, as published"
    if request.published:
        summary = published("paper", "cumulative").rename(columns={"paper_mean": "mean"})
        summary = summary[summary["problem"].isin(RANKED_PROBLEMS)]
    else:
        summary = summarise(selected(request).frame, absolute=True)
        of_the_ten = summary[summary["problem"].isin(RANKED_PROBLEMS)]
        summary = of_the_ten if len(of_the_ten) else summary
        counted = f"means of {trials_of(list(summary['trials']))}"
    each = ranks(summary)
    if request.policies is not None:
        each = each[each["policy"].isin(request.policies)]
    if each.empty:
        raise UsageError("none of the policies asked for has a rank")
    return each, counted


FIGURE = Figure(
    summary="box plot of each policy's ranks over the problems of a store, or of the paper",
    draw=draw,
    options=("policies", "published"),
    place=6,
)
