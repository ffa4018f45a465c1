"""Cumulative regret over time on one problem of a store: means over trials, bands of one standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.analysis.summary import BASELINE, mean_curve, summarise
from showdown.basics.errors import UsageError
from showdown.bench.store import Store
from showdown.report.drawing import Figure, FigureRequest, selected, style
from showdown.report.drawing.style import scale_regret, trials_of

if TYPE_CHECKING:
    import matplotlib.figure

MOST = 7  # curves that are drawn where none were asked for: the best ones


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    store = Store(request.directory)
    frame = selected(request, store).frame
    problem = _problem(request, list(dict.fromkeys(frame["problem"])))
    frame = frame[frame["problem"] == problem]
    means = summarise(frame, absolute=True).set_index("policy")["mean"].sort_values(kind="stable")
    if request.policies is None:
        chosen = [policy for policy in means.index if policy != BASELINE][:MOST]
    else:
        chosen = [policy for policy in means.index if policy in request.policies]
    if not chosen:
        raise UsageError(f"none of the policies asked for has a finished cell on {problem}")
    cells = frame.drop_duplicates("policy").set_index("policy")
    figure = style.new_figure(6.0, max(3.2, 0.4 + 0.18 * len(chosen)))  # the legend needs its height
    axes = figure.subplots()
    curves, lines = [], []
    records = {record.cell: record for record in store.cells()}
    for number, policy in enumerate(chosen):
        record = records[cells.loc[policy, "cell"]]
        table = store.trials(record)
        assert table is not None  # the frame above was read from it
        curve = mean_curve(record.checkpoints, table["curve"].tolist())
        lines.append(style.draw_curve(axes, curve, policy, *style.line(number)))
        curves.append(curve)
    scale_regret(axes, curves)
    axes.set_title(f"{problem}, mean ± standard error over {trials_of([curve.trials for curve in curves])}")
    # said outright: left to itself a legend leaves out names that begin with an underscore
    figure.legend(lines, chosen, loc="outside right center", handlelength=2.4)
    return figure


def _problem(request: FigureRequest, stored: list[str]) -> str:
    if request.problem is None and len(stored) == 1:
        return stored[0]
    if request.problem is None:
        raise UsageError(f"say which problem to draw with --problem; there are {', '.join(stored)}")
    if request.problem not in stored:
        raise UsageError(f"no cell of the problem {request.problem!r} is finished there; there are {', '.join(stored)}")
    return request.problem


FIGURE = Figure(
    summary="cumulative regret over time on one problem of a store, with standard errors",
    draw=draw,
    options=("policies", "problem"),
)
