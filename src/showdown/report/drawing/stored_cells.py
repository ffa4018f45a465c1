"""The cells of a store that a figure draws, and the message when it has none."""

from __future__ import annotations

from showdown.analysis.selection import Selection, select
from showdown.basics.errors import UsageError
from showdown.bench.store import Store
from showdown.report.drawing.figure import Request


def selected(request: Request, store: Store | None = None) -> Selection:
    """One cell per (policy, problem), as the tables choose; a figure that reads curves too passes its own store."""
    store = store or Store(request.directory)
    frame = store.frame()
    for warning in store.warnings:
        request.warn(warning)
    if frame.empty:
        where = request.directory
        raise UsageError(f"{where} holds no finished cell to draw; `showdown run --out {where}` makes some")
    return select(frame)
