"""What a verdict says, in three parts: who is ahead on these problems, what follows for a new one, the worst case.

`judge.py` finds one; `verdict_text.py` says it in plain English and claims no more than the numbers do. There is no
best method without an interval. Uniform and the best fixed action are references: shown, and compared with the best,
but never named as its rivals. docs/verdicts.md says how to read one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from showdown.analysis.compare_problems import Lead
from showdown.analysis.worst_case import WorstCase
from showdown.basics.text import wrapped

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
    behind: bool  # clearly worse than the best, whichever was compared
    behind_alone: bool = False  # worse for a test of this pair alone, which is what `showdown compare` says

    @property
    def is_tied(self) -> bool:
        """Whether it cannot be told from the best, neither here nor by `showdown compare`."""
        return not self.behind and not self.behind_alone


def tied_among(rivals: Iterable[Rival]) -> tuple[str, ...]:
    """The rivals that cannot be told from the best."""
    return tuple(rival.policy for rival in rivals if rival.is_tied)


@dataclass(frozen=True, kw_only=True)
class NewProblem:
    """What the ranks say about a problem that was not played."""

    best: str  # has the best mean rank
    rank: float
    low: float  # 95 % interval of the paired bootstrap
    high: float
    tied: tuple[str, ...]  # that may be as good, the nearest first; empty too where `can_tell` is False
    behind: int  # how many are clearly worse
    methods: int
    problems: int
    needed: int  # problems that it takes at least to tell as many methods apart
    p_value: float
    test: str
    pair: tuple[str, str] | None  # that `p_value` is about; None for Friedman's test, which is about all methods
    enough: int | None = None  # problems that would probably tell the pair apart; None: no such number

    @property
    def can_tell(self) -> bool:
        """Whether the problems are enough, and show any difference at all."""
        return self.problems >= self.needed and self.pair is not None

    @property
    def ties(self) -> tuple[str, ...]:
        """The best and all that may be as good: what a column of mean ranks marks. Nothing where nothing is known."""
        return (self.best, *self.tied) if self.can_tell else ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """Who is best, and how sure that is. `lines` says it in plain English, `to_json` as plain data.

    It prints as its lines and warnings.
    """

    metric: str
    title: str  # of the metric, as a sentence says it
    smaller_is_better: bool
    unit: str  # of `value`: the metric's own, "% of Uniform", or "mean rank"
    problems: tuple[str, ...]  # that the verdict is about
    best: str | None = None  # on these problems; None: there is no verdict, and `reason` says why
    value: float | None = None  # of the best: on its problem, or the mean over problems
    low: float | None = None  # 95 % interval of `value`
    high: float | None = None
    tied: tuple[str, ...] = ()  # methods that cannot be told from the best, the nearest first
    rivals: tuple[Rival, ...] = ()  # all other methods, the nearest first
    lead: Lead | None = None  # how much less the best has than the next
    references: tuple[Rival, ...] = ()  # Uniform and the best fixed action, compared with the best
    cheapest: str | None = None  # the fastest of the best and those tied with it that fails nowhere
    cheapest_reason: str = ""  # its time per step, or why no cheapest is named
    sure: str = "no interval"  # "very sure", "sure", "fairly sure", "too few trials", "a tie", "alone", "no interval"
    p_value: float | None = None  # that the nearest rival is as good, corrected; None where one has too few trials
    pair: tuple[str, str] | None = None  # that `p_value` is about: the best and that rival
    test: str = ""  # what `p_value` is of
    new_problem: NewProblem | None = None  # None on one problem
    worst_case: WorstCase | None = None  # None where Uniform was not played
    reason: str = ""  # why there is no best
    coverage: dict[str, int] = field(default_factory=dict)  # policy to how many of all problems it played
    all_problems: int = 0  # that any policy played
    left_out: tuple[str, ...] = ()  # policies that did not play all of `problems`
    trials: tuple[int, int] = (0, 0)  # the smallest and the largest number of a cell
    warnings: tuple[str, ...] = ()  # when not to believe it

    def __repr__(self) -> str:
        return wrapped([*self.lines, *self.warnings])

    @property
    def ties(self) -> tuple[str, ...]:
        """The best and all that cannot be told from it: what a table marks."""
        return () if self.best is None else (self.best, *self.tied)

    @property
    def beats_references(self) -> bool:
        """Whether the best is clearly better than chance and than the best fixed action, where they are known."""
        return all(reference.behind for reference in self.references)

    def fails(self, policy: str) -> bool:
        """Whether the method is above Uniform, or has stuck trials, on any of the problems."""
        return self.worst_case is not None and self.worst_case.fails(policy)

    @property
    def sentence(self) -> str:
        """Who is ahead on these problems, in one to three sentences of plain English."""
        from showdown.analysis.verdict_text import sentence

        return sentence(self)

    @property
    def short(self) -> str:
        """Who won and by how much, in a few words: what a run ends with."""
        from showdown.analysis.verdict_text import short

        return short(self)

    @property
    def lines(self) -> tuple[str, ...]:
        """The whole verdict: on these problems, on a new problem, and the worst case."""
        from showdown.analysis.verdict_text import lines

        return lines(self)

    def to_json(self) -> dict[str, Any]:
        plain = {"sentence": self.sentence, "lines": self.lines, **dataclasses.asdict(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}
