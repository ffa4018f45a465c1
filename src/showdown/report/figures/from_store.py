"""The cells of the store that a figure draws, and what to say when there are none."""

from __future__ import annotations

from showdown.analysis.selection import Selection, select
from showdown.bench.store import Store
from showdown.errors import UsageError
from showdown.report.figures.order import Order


def selected(order: Order) -> Selection:
    """One cell per (policy, problem), as the tables choose."""
    store = Store(order.directory)
    frame = store.frame()
    for warning in store.warnings:
        order.warn(warning)
    if frame.empty:
        where = order.directory
        raise UsageError(f"{where} holds no finished cell to draw; `showdown run --out {where}` makes some")
    return select(frame)
