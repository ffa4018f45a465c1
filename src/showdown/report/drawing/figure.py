"""What a figure is: a sentence about it, the options it reads, and the function that draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from showdown.studies.settings import Settings

if TYPE_CHECKING:
    import matplotlib.figure

NOT_IN_THE_PAPER = 100


@dataclass(frozen=True, kw_only=True)
class Request(Settings):
    """What a person asked a figure to show. A figure that runs a study hands it on: a request is also its settings."""

    policies: list[str] | None = None  # None: the figure's own choice
    problem: str | None = None
    published: bool = False  # the paper's numbers instead of the store's


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A module of `report/figures` defines one as `FIGURE`; the module's name is the name of the figure."""

    summary: str  # one sentence for `showdown figure --list`
    draw: Callable[[Request], matplotlib.figure.Figure]
    options: tuple[str, ...] = ()  # fields of Request that it reads, besides the folder; others are refused
    place: int = NOT_IN_THE_PAPER  # where it is listed: its place among the paper's figures
