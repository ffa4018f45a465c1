"""What a reader must know besides the numbers: values that can be merged, and only then become sentences.

Several tables of one page have a note of the same kind, each about its own cells. `merged` joins them over `items`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

LEFT_OUT = {  # why one of several cells of a (policy, problem) is not shown
    "data": "the name stands for other data now; only its newest cells are shown",
    "horizon": "the longest horizon is shown; --horizon chooses",
    "seed": "the lowest seed is shown; --seed chooses",
    "trials": "the largest number of trials is shown; --trials chooses",
    "older": "the newest is shown; the others were made by another version",
}


@dataclass(frozen=True)
class Note(ABC):
    """Notes of one kind that differ in their items alone are one note about all of these."""

    items: tuple[Any, ...]

    @abstractmethod
    def __str__(self) -> str:
        """The sentence."""


@dataclass(frozen=True)
class LeftOut(Note):
    """items: (cell, problem, the value that was not chosen)."""

    because: str  # a key of LEFT_OUT

    def __str__(self) -> str:
        count = len({cell for cell, _, _ in self.items})
        values = ""
        if self.because in ("horizon", "seed", "trials"):
            values = f" with {self.because} {', '.join(map(str, sorted({value for _, _, value in self.items})))}"
        where = ", ".join(dict.fromkeys(problem for _, problem, _ in self.items))
        return f"left out: {_counted(count, 'cell')}{values} on {where} ({LEFT_OUT[self.because]})"


@dataclass(frozen=True)
class Absent(Note):
    """items: problems of one of the paper's tables that the store has no finished cell of."""

    def __str__(self) -> str:
        return f"no finished cell on {', '.join(self.items)}, which the paper's table has"


@dataclass(frozen=True)
class NoBaseline(Note):
    """items: problems on which numbers could not be divided by those of the baseline."""

    policy: str

    def __str__(self) -> str:
        return f"no usable {self.policy} on {', '.join(self.items)}: absolute numbers there, not % of {self.policy}"


@dataclass(frozen=True)
class OtherHorizon(Note):
    """items: (problem, steps, the paper's steps)."""

    def __str__(self) -> str:
        return "not compared with the paper (≠), which played another number of steps: " + ", ".join(
            f"{name} ({steps}, not {theirs})" for name, steps, theirs in self.items
        )


@dataclass(frozen=True)
class RankedOver(Note):
    """items: the problems of a mean rank."""

    published_only: bool = False

    def __str__(self) -> str:
        return f"mean rank over {', '.join(self.items)}" + (" among published cells" if self.published_only else "")


@dataclass(frozen=True)
class NotKept(Note):
    """items: cells that were played before the metric existed."""

    metric: str

    def __str__(self) -> str:
        were = "was" if len(self.items) == 1 else "were"
        again = "it" if len(self.items) == 1 else "them"
        return (
            f"{_counted(len(self.items), 'cell')} {were} played before `{self.metric}` was kept: "
            f"play {again} again into another folder (--out) to see it"
        )


@dataclass(frozen=True)
class NeedsLabels(Note):
    """items: problems without labels, for a metric that is about the right label."""

    metric: str

    def __str__(self) -> str:
        return f"no {self.metric} on {', '.join(self.items)}: it is for problems whose rows have a label"


def merged(notes: Iterable[Note]) -> list[Note]:
    """One note of each kind, about the items of all of them, in the order in which they first appear."""
    kinds: dict[Note, Note] = {}
    for note in notes:
        kind = replace(note, items=())
        earlier = kinds.get(kind, kind)
        kinds[kind] = replace(note, items=tuple(dict.fromkeys((*earlier.items, *note.items))))
    return list(kinds.values())


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
