"""What a reader must know besides the numbers: values that can be merged, and only then become sentences.

Several tables of one page have a note of the same kind, each about its own cells. `merged` joins them over `items`. A
`Caution` says when not to believe a number; `validity.py` finds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

NOTE, CAUTION = "note", "caution"  # kinds: a caution is shown in colour on a terminal

LEFT_OUT = {  # why one of several cells of a (policy, problem) is not shown
    "data": "the name stands for other data now; only its newest cells are shown",
    "horizon": "the longest horizon is shown; `showdown table --horizon` chooses",
    "seed": "the lowest seed is shown; `showdown table --seed` chooses",
    "trials": "the largest number of trials is shown; `showdown table --trials` chooses",
    "older": "the newest is shown; the others were made by another version",
}


@dataclass(frozen=True)
class Note(ABC):
    """Notes of one kind that differ in their items alone are one note about all of these."""

    items: tuple[Any, ...]
    kind: ClassVar[str] = NOTE

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
    kind: ClassVar[str] = CAUTION

    def __str__(self) -> str:
        return f"no usable {self.policy} on {', '.join(self.items)}: absolute numbers there, not % of {self.policy}"


@dataclass(frozen=True)
class OtherHorizon(Note):
    """items: (problem, steps, the paper's steps)."""

    kind: ClassVar[str] = CAUTION

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
            f"play {again} again into another folder (`showdown run --out`) to see it"
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


NAMED = 4  # items that a sentence names; the others are counted


def _named(texts: Iterable[str]) -> str:
    """A list in words; a long one is cut and the rest counted."""
    each = list(dict.fromkeys(texts))
    more = f" and {len(each) - NAMED} more" if len(each) > NAMED + 1 else ""
    return ", ".join(each[:NAMED] if more else each) + more


@dataclass(frozen=True)
class Caution(Note):
    """A note on what makes a comparison doubtful; a verdict repeats it."""

    kind: ClassVar[str] = CAUTION


@dataclass(frozen=True)
class ShortHorizon(Caution):
    """items: (problem, steps, steps of its full length)."""

    def __str__(self) -> str:
        each = _named(f"{name} ({steps:,} of {full:,} steps)" for name, steps, full in self.items)
        return f"not played to the end: {each}; more steps may change who is best"


@dataclass(frozen=True)
class Bending(Caution):
    """items: (policy, problem)."""

    def __str__(self) -> str:
        each = _named(f"{policy} on {problem}" for policy, problem in self.items)
        return f"still improving when the trial ended: {each}; with more steps these would do better"


@dataclass(frozen=True)
class CatchingUp(Caution):
    """items: (policy, problem, the better one, steps after which it would be overtaken)."""

    def __str__(self) -> str:
        each = _named(
            f"{policy} would overtake {best} on {problem} after about {_round(steps):,} steps"
            for policy, problem, best, steps in self.items
        )
        return f"at the rate of the last quarter {each}"


@dataclass(frozen=True)
class LongWarmUp(Caution):
    """items: (policy, problem, steps of the warm-up, horizon)."""

    def __str__(self) -> str:
        each = _named(f"{policy} on {problem} ({pulls:,} of {steps:,})" for policy, problem, pulls, steps in self.items)
        return f"a quarter of the steps or more are warm-up, in which actions are played in turn: {each}"


@dataclass(frozen=True)
class Rounded(Caution):
    """items: (policy, problem, standard deviations)."""

    def __str__(self) -> str:
        each = _named(f"{policy} on {problem} (up to {error:.2g})" for policy, problem, error in self.items)
        return (
            f"float32 may have moved what was learned by a quarter of a standard deviation or more: {each}; centre "
            "contexts that lie far from 0, and scale contexts or rewards whose noise is tiny"
        )


@dataclass(frozen=True)
class FewTrials(Caution):
    """items: (policy, problem, trials)."""

    fewest: int  # that would not be few

    def __str__(self) -> str:
        counts = sorted({trials for _, _, trials in self.items})
        shown = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        where = _named(problem for _, problem, _ in self.items)
        return f"fewer than {self.fewest} trials on {where} ({shown}): small differences do not show"


@dataclass(frozen=True)
class SameRows(Caution):
    """items: problems all of whose trials have the same rows in the same order."""

    def __str__(self) -> str:
        where = _named(self.items)
        return (
            f"all trials have the same rows in one order on {where}: intervals and p-values hold for these rows alone"
        )


@dataclass(frozen=True)
class UnequalCoverage(Caution):
    """items: (policy, problems that it played, problems in all), of policies that are not ranked."""

    def __str__(self) -> str:
        each = _named(f"{policy} ({played} of {total})" for policy, played, total in self.items)
        return f"not ranked, since they lack problems that the others played: {each}"


@dataclass(frozen=True)
class UnsharedProblems(Caution):
    """items: problems that are left out of the ranks, since not all ranked policies played them."""

    total: int  # problems in all

    def __str__(self) -> str:
        over = f"ranked over {self.total - len(self.items)} of {self.total} problems"
        return f"{over}, without {_named(self.items)}, which not all ranked methods played"


@dataclass(frozen=True)
class NoTimes(Caution):
    """items: (problem, why its times cannot be compared)."""

    def __str__(self) -> str:
        reasons = dict.fromkeys(why for _, why in self.items)
        each = (f"{_named(name for name, of in self.items if of == why)} ({why})" for why in reasons)
        return f"times are not compared on {'; '.join(each)}"


@dataclass(frozen=True)
class SlowPath(Caution):
    """items: (policy, problem) of cells whose policy decides in plain Python."""

    def __str__(self) -> str:
        each = _named(f"{policy} on {problem}" for policy, problem in self.items)
        return f"plain Python, the slow path, on the same trials: {each}; their seconds are not comparable"


def _round(steps: float) -> int:
    """The number with two significant digits: it is a guess."""
    return int(float(f"{steps:.2g}"))
