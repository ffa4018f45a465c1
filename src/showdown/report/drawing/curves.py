"""Regret over time, drawn: a panel per problem, means over trials and bands of one standard error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from showdown.analysis.summary import BASELINE, Curve, mean_curve, summarise
from showdown.basics.errors import UsageError
from showdown.bench.reader import Reader
from showdown.bench.record import Record
from showdown.report.drawing import style
from showdown.report.drawing.style import scale_regret, trials_of

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    from matplotlib.lines import Line2D

MOST = 7  # curves that are drawn where none were asked for: the best ones
COLUMNS = 3  # panels beside each other


def stored_curves(
    store: Reader, records: Iterable[Record], frame: pd.DataFrame, column: str = "curve"
) -> dict[tuple[str, str], Curve]:
    """The mean curve of each (policy, problem) of a frame with one cell for each."""
    by_cell = {record.cell: record for record in records}
    found = {}
    for policy, problem, cell in frame[["policy", "problem", "cell"]].drop_duplicates().to_numpy():
        table = store.trials(by_cell[cell])
        if table is not None and column in table:
            found[policy, problem] = mean_curve(by_cell[cell].checkpoints, table[column].tolist())
    return found


def best_first(frame: pd.DataFrame, policies: Sequence[str] | None = None) -> list[str]:
    """Policies of one problem by their regret; without a choice the best few, Uniform left out."""
    means = summarise(frame, absolute=True).set_index("policy")["mean"].sort_values(kind="stable")
    if policies is None:
        others = [policy for policy in means.index if policy != BASELINE]
        return (others or list(means.index))[:MOST]
    return [policy for policy in means.index if policy in policies]


def draw_curves(
    curves: Mapping[tuple[str, str], Curve], frame: pd.DataFrame, policies: Sequence[str] | None = None
) -> matplotlib.figure.Figure:
    """A panel for each problem of the frame, with one legend; a policy has one colour in all of them."""
    problems = list(dict.fromkeys(frame["problem"]))
    chosen = {problem: best_first(frame[frame["problem"] == problem], policies) for problem in problems}
    order = list(dict.fromkeys(policy for names in chosen.values() for policy in names))
    if not order:
        raise UsageError(f"none of the policies asked for has a finished cell on {problems[0]}")
    columns = min(len(problems), COLUMNS)
    rows = math.ceil(len(problems) / columns)
    wide = 6.0 if columns == 1 else 2.6 * columns + 1.6
    figure = style.new_figure(wide, max(3.2 if rows == 1 else 2.4 * rows, 0.4 + 0.18 * len(order)))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    lines: dict[str, Line2D] = {}
    for axes, problem in zip(panels, problems, strict=False):
        lines |= _panel(axes, curves, problem, chosen[problem], order)
    for axes in panels[len(problems) :]:
        axes.set_axis_off()
    # said outright: left to itself a legend leaves out names that begin with an underscore
    figure.legend([lines[policy] for policy in order], order, loc="outside right center", handlelength=2.4)
    return figure


def _panel(
    axes: matplotlib.axes.Axes,
    curves: Mapping[tuple[str, str], Curve],
    problem: str,
    policies: list[str],
    order: list[str],
) -> dict[str, Line2D]:
    drawn = {policy: curves[policy, problem] for policy in policies if (policy, problem) in curves}
    lines = {
        policy: style.draw_curve(axes, curve, policy, *style.line(order.index(policy)))
        for policy, curve in drawn.items()
    }
    if drawn:
        scale_regret(axes, drawn.values())
    trials = trials_of([curve.trials for curve in drawn.values()])
    axes.set_title(f"{problem}, mean ± standard error over {trials}")
    return lines
