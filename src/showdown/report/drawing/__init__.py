"""What figures share: how one is declared and asked for, the cells it draws, and in `style` how it looks as a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from showdown.analysis.selection import Selection, select
from showdown.basics.errors import UsageError
from showdown.bench.store import Store
from showdown.studies.shared import Settings

if TYPE_CHECKING:
    import matplotlib.figure


NOT_IN_THE_PAPER = 100


@dataclass(frozen=True, kw_only=True)
class FigureRequest(Settings):
    """What a person asked a figure to show. A figure that runs a study hands it on: a request is also its settings."""

    policies: list[str] | None = None  # None: the figure's own choice
    problem: str | None = None
    published: bool = False  # the paper's numbers instead of the store's


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A module of `report/figures` defines one as `FIGURE`; the module's name is the name of the figure."""

    summary: str  # one sentence for `showdown figure --list`
    draw: Callable[[FigureRequest], matplotlib.figure.Figure]
    options: tuple[str, ...] = ()  # fields of FigureRequest that it reads, besides the folder; others are refused
    place: int = NOT_IN_THE_PAPER  # where it is listed: its place among the paper's figures


def selected(request: FigureRequest, store: Store | None = None) -> Selection:
    """One cell per (policy, problem), as the tables choose; a figure that reads curves too passes its own store."""
    store = store or Store(request.directory)
    frame = store.frame()
    for warning in store.warnings:
        request.warn(warning)
    if frame.empty:
        where = request.directory
        raise UsageError(f"{where} holds no finished cell to draw; `showdown run --out {where}` makes some")
    return select(frame)
