"""What a verdict says: the best method, those that cannot be told from it, the cheapest of these, and how sure that is.

`judge.py` finds one. `Verdict.sentence` says it in plain English and claims no more than the numbers do. There is no
best method without an interval. Uniform and the best fixed action are references: shown, and compared with the best,
but never named as its rivals. docs/verdicts.md says how to read one.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from showdown.analysis.summary import BASELINE
from showdown.metrics import COMMONEST

RANK_UNIT = "mean rank"


@dataclass(frozen=True)
class Rival:
    """Another policy, or a reference, and how far it is behind the best; negative where it is ahead."""

    policy: str
    value: float  # in the verdict's unit, as are the next three
    difference: float
    low: float | None  # the interval of the difference, corrected for the number of comparisons
    high: float | None
    p_value: float | None  # corrected likewise; None for fewer than three trials
    behind: bool  # clearly worse than the best


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Who is best, and how sure that is. `sentence` says it in plain English, `to_json` as plain data."""

    metric: str
    title: str  # of the metric, as a sentence says it
    smaller_is_better: bool
    unit: str  # of `value`: the metric's own, "% of Uniform", or "mean rank"
    problems: tuple[str, ...]  # that the verdict is about
    best: str | None = None  # None: there is no verdict, and `reason` says why
    value: float | None = None
    low: float | None = None  # 95 % interval of `value`
    high: float | None = None
    tied: tuple[str, ...] = ()  # methods that cannot be told from the best, the nearest first
    rivals: tuple[Rival, ...] = ()  # all other methods, the nearest first
    references: tuple[Rival, ...] = ()  # Uniform and the best fixed action, compared with the best
    cheapest: str | None = None  # the fastest of the best and those tied with it
    cheapest_reason: str = ""  # its time per step, or why no cheapest is named
    sure: str = "no interval"  # "very sure", "sure", "too few trials", "a tie", "alone" or "no interval"
    p_value: float | None = None  # that the nearest rival is as good, corrected; None where one has too few trials
    test: str = ""  # what `p_value` is of
    reason: str = ""  # why there is no best
    coverage: dict[str, int] = field(default_factory=dict)  # policy to how many of all problems it played
    all_problems: int = 0  # that any policy played
    left_out: tuple[str, ...] = ()  # policies that did not play all of `problems`
    trials: tuple[int, int] = (0, 0)  # the smallest and the largest number of a cell
    warnings: tuple[str, ...] = ()  # when not to believe it

    @property
    def ties(self) -> tuple[str, ...]:
        """The best and all that cannot be told from it: what a table marks."""
        return () if self.best is None else (self.best, *self.tied)

    @property
    def beats_references(self) -> bool:
        """Whether the best is clearly better than chance and than the best fixed action, where they are known."""
        return all(reference.behind for reference in self.references)

    @property
    def sentence(self) -> str:
        """One or two sentences in plain English."""
        return _sentence(self)

    def to_json(self) -> dict[str, Any]:
        plain = {"sentence": self.sentence, **dataclasses.asdict(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


NAMED = 4  # ties that are named; the others are counted


def _sentence(verdict: Verdict) -> str:
    where = _where(verdict)
    if verdict.best is None:
        return f"No verdict {where}: {verdict.reason}."
    superlative = f"the {'lowest' if verdict.smaller_is_better else 'highest'} {verdict.title}"
    several = len(verdict.problems) > 1
    has = f"the best mean rank by {verdict.title}" if several else superlative
    value, low, high = (_number(number, verdict.unit) for number in (verdict.value, verdict.low, verdict.high))
    number = f"{value}{_unit(verdict)}, 95 % interval {low} to {high}"
    if not verdict.tied:
        others = len(verdict.rivals)
        claim = f"{verdict.best} has {has} {where} ({number})"
        beaten = f", ahead of the {others} others" if others > 1 else ", ahead of the other method"
        told = f"{claim}{beaten if others else ''}{_p(verdict) if others else ''}."
    else:
        told = (
            f"No single winner {where}: {listed([verdict.best, *verdict.tied])} cannot be told apart"
            f"{' by mean rank' if several else ''}{_p(verdict)}. "
            f"{verdict.best} has {has} ({number})."
        )
    return " ".join(filter(None, [told, _cheapest(verdict), _references(verdict)]))


def listed(names: list[str], most: int = NAMED) -> str:
    """The names as `A, B and C`; a long list is cut and the rest counted."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _where(verdict: Verdict) -> str:
    if len(verdict.problems) == 1:
        return f"on {verdict.problems[0]}"
    return f"over {len(verdict.problems)} problems" if verdict.problems else "over these problems"


def _unit(verdict: Verdict) -> str:
    if verdict.unit.startswith("%"):
        return f" {verdict.unit}"
    if verdict.unit.startswith("share"):  # a number from 0 to 1 that the metric's title explains
        return ""
    return "" if len(verdict.problems) > 1 else f" {verdict.unit}"


def _number(value: float | None, unit: str) -> str:
    """The number as text: per cent and ranks with two decimals, shares with four, as the ends of their intervals."""
    if value is None:
        return "?"
    if unit.startswith("share"):
        return f"{value:.4f}"
    return f"{value:.2f}" if unit.startswith("%") or unit == RANK_UNIT else f"{value:.4g}"


def _p(verdict: Verdict) -> str:
    if verdict.p_value is None:
        return " (too few trials for a p-value)"
    shown = "p < 0.001" if verdict.p_value < 0.001 else f"p = {verdict.p_value:.2g}"
    return f" ({verdict.test}, {shown})" if len(verdict.problems) > 1 else f" ({shown})"


def _cheapest(verdict: Verdict) -> str:
    if not verdict.tied or verdict.cheapest is None:
        return ""
    return f"The cheapest of these is {verdict.cheapest} ({verdict.cheapest_reason})."


def _references(verdict: Verdict) -> str:
    words = {BASELINE: "choosing at random", COMMONEST: "always taking the commonest action"}
    missed = [words.get(one.policy, one.policy) for one in verdict.references if not one.behind]
    return f"It is not clearly better than {listed(missed)}." if missed else ""
