"""Cumulative regret over time on one problem of a store: means over trials, bands of one standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.basics.errors import UsageError
from showdown.bench.store import Store
from showdown.report.drawing import Figure, FigureRequest, selected
from showdown.report.drawing.curves import best_first, draw_curves, stored_curves

if TYPE_CHECKING:
    import matplotlib.figure


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    store = Store(request.directory)
    frame = selected(request, store).frame
    problem = _problem(request, list(dict.fromkeys(frame["problem"])))
    frame = frame[frame["problem"] == problem]
    drawn = frame[frame["policy"].isin(best_first(frame, request.policies))]
    return draw_curves(stored_curves(store, store.cells(), drawn), frame, request.policies)


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
