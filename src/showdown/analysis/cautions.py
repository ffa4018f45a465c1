"""When not to believe a number: notes about cells whose comparison may mislead. `validity.py` finds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from showdown.analysis.notes import Note

NAMED = 4  # items that a sentence names; the others are counted


def _named(texts: Iterable[str]) -> str:
    each = list(dict.fromkeys(texts))
    more = f" and {len(each) - NAMED} more" if len(each) > NAMED + 1 else ""
    return ", ".join(each[:NAMED] if more else each) + more


@dataclass(frozen=True)
class Caution(Note):
    """A note that a verdict repeats."""


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
class WarmUp(Caution):
    """items: (policy, problem, steps of the warm-up, horizon)."""

    def __str__(self) -> str:
        each = _named(f"{policy} on {problem} ({pulls:,} of {steps:,})" for policy, problem, pulls, steps in self.items)
        return f"a quarter of the steps or more are warm-up, in which actions are played in turn: {each}"


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
class FewProblems(Caution):
    """items: (problems, methods, problems that are needed)."""

    def __str__(self) -> str:
        problems, methods, needed = self.items[0]
        return f"{problems} problems cannot tell {methods} methods apart by their ranks; {needed} or more may"


@dataclass(frozen=True)
class NoTimes(Caution):
    """items: (problem, why its times cannot be compared)."""

    def __str__(self) -> str:
        reasons = dict.fromkeys(why for _, why in self.items)
        each = (f"{_named(name for name, of in self.items if of == why)} ({why})" for why in reasons)
        return f"times are not compared on {'; '.join(each)}"


def _round(steps: float) -> int:
    """To two significant digits: it is a guess."""
    return int(float(f"{steps:.2g}"))
