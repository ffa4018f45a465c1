"""One policy against another: the difference on every problem that both played, and what follows from all of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from showdown.analysis.compare_problems import difference_over, reduction
from showdown.analysis.compare_trials import difference, values_of
from showdown.analysis.play_details import DetailsByCell
from showdown.analysis.summary import BASELINE, cells_with_metric, summarise
from showdown.analysis.validity import catching_up, cautions
from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.metrics import MAIN, metric_named


@dataclass(frozen=True)
class ProblemDifference:
    """`first` minus `second`, in the metric's own unit or, where Uniform was played, in % of its mean."""

    problem: str
    unit: str
    first: float
    second: float
    difference: float
    low: float | None  # 95 % interval of the difference, paired over trials
    high: float | None
    p_value: float | None  # None for fewer than three trials
    wins: int  # trials in which `first` is better
    ties: int
    losses: int
    better: str | None  # the one that is clearly better; None: they cannot be told apart


@dataclass(frozen=True, kw_only=True, repr=False)
class HeadToHead:
    """Two policies on every problem that both played, and over all of these. It prints as sentences."""

    first: str
    second: str
    metric: str
    title: str
    smaller_is_better: bool
    problems: tuple[ProblemDifference, ...]
    wins: int  # problems on which `first` is clearly better
    ties: int
    losses: int
    mean: float | None  # mean difference in % of Uniform over these problems, where all have Uniform
    low: float | None  # its 95 % interval, over trials
    high: float | None
    less: float | None = None  # by how many per cent the better one of a regret is lower, with its 95 % interval
    less_low: float | None = None
    less_high: float | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        each = [_on_one(self, one) for one in self.problems] if len(self.problems) > 1 else []
        return wrapped([self.sentence, *each, *self.warnings])

    @property
    def sentence(self) -> str:
        """Who is better, in plain English, with the numbers that say so."""
        count = len(self.problems)
        if count == 1:
            return _on_one(self, self.problems[0])
        score = (
            f"better on {self.wins}, worse on {self.losses} and not to be told apart on {self.ties} of {count} problems"
        )
        if self.mean is None or self.low is None or self.high is None:
            return f"{self.first} against {self.second}: {score}."
        between = (
            f"{self.mean:+.3g} points of Uniform's {self.title}, 95 % interval {self.low:+.3g} to {self.high:+.3g}"
        )
        told = self.low <= 0 <= self.high
        better = self.first if (self.mean < 0) == self.smaller_is_better else self.second
        less = ""
        if self.less is not None and self.less_low is not None and self.less_high is not None:
            less = f", {self.less:.3g} % less ({self.less_low:.3g} to {self.less_high:.3g})"
        claim = (
            f"no clear winner on these {count} problems"
            if told
            else f"{better} is better on these {count} problems{less}"
        )
        return f"{self.first} against {self.second}: {claim} ({between}); {score}."

    def to_json(self) -> dict[str, Any]:
        return {"sentence": self.sentence, **dataclasses.asdict(self)}


def _on_one(found: HeadToHead, one: ProblemDifference) -> str:
    trials = f"better in {one.wins} of {one.wins + one.ties + one.losses} trials"
    if one.low is None or one.high is None:
        return f"{found.first} and {found.second} on {one.problem}: a single trial tells nothing."
    trials += "; too few for a p-value" if one.p_value is None else ""
    number = f"{one.difference:+.4g} {one.unit}, 95 % interval {one.low:+.4g} to {one.high:+.4g}"
    if one.better is None:
        return f"{found.first} and {found.second} cannot be told apart on {one.problem} ({number}; {trials})."
    other = found.second if one.better == found.first else found.first
    return f"{one.better} is better than {other} on {one.problem} ({found.first}: {number}; {trials})."


def head_to_head(
    frame: pd.DataFrame, details: DetailsByCell, first: str, second: str, metric: str = MAIN
) -> HeadToHead:
    """Compare two policies over cells that `select` chose. Wins, ties and losses count problems by their intervals."""
    asked = metric_named(metric)
    if asked.cell:
        raise UsageError(f"{asked.title} has one number per cell, so there is no interval to compare by")
    held = cells_with_metric(frame, asked).frame
    both = held[held["policy"].isin([first, second])]
    shared = [str(name) for name, group in both.groupby("problem", sort=False) if group["policy"].nunique() == 2]
    if not shared:
        raise UsageError(f"{first} and {second} were not played on the same problem (with the same horizon and seed)")
    scales = _scales(held[held["problem"].isin(shared)], metric)
    parts = [_on_problem(both[both["problem"] == name], first, second, metric, scales) for name in shared]
    better = [part.better for part in parts]
    mean, low, high, *less = _overall(both, shared, first, second, metric, scales)
    return HeadToHead(
        first=first,
        second=second,
        metric=metric,
        title=asked.title,
        smaller_is_better=asked.smaller_is_better,
        problems=tuple(parts),
        wins=better.count(first),
        ties=better.count(None),
        losses=better.count(second),
        mean=mean,
        low=low,
        high=high,
        less=less[0],
        less_low=less[1],
        less_high=less[2],
        warnings=tuple(map(str, _warnings(both[both["problem"].isin(shared)], details, parts, first, second))),
    )


def _scales(frame: pd.DataFrame, metric: str) -> dict[str, float]:
    """What turns values into % of Uniform, by problem; only problems on which Uniform has a positive mean."""
    if metric_named(metric).baseline != BASELINE:
        return {}
    means = summarise(frame, metric, absolute=True)
    own = means[(means["policy"] == BASELINE) & (means["mean"] > 0)]
    return {str(problem): 100 / mean for problem, mean in zip(own["problem"], own["mean"], strict=True)}


def _on_problem(
    rows: pd.DataFrame, first: str, second: str, metric: str, scales: dict[str, float]
) -> ProblemDifference:
    asked, problem = metric_named(metric), str(rows["problem"].iloc[0])
    values = values_of(rows, metric)
    scale, unit = (scales[problem], f"% of {BASELINE}") if problem in scales else (1.0, asked.unit)
    found = difference(values[first], values[second])
    ahead = -1 if asked.smaller_is_better else 1
    better = None if not found.told_apart else first if ahead * found.mean > 0 else second
    fewer, equal = found.wins, found.ties  # trials in which the first has the smaller value
    more = found.trials - fewer - equal
    wins, losses = (fewer, more) if asked.smaller_is_better else (more, fewer)
    low, high, p_value = (None if math.isnan(value) else value for value in (found.low, found.high, found.p_value))
    return ProblemDifference(
        problem,
        unit,
        scale * float(values[first].mean()),
        scale * float(values[second].mean()),
        scale * found.mean,
        None if low is None else scale * low,
        None if high is None else scale * high,
        p_value,
        wins,
        equal,
        losses,
        better,
    )


def _overall(
    rows: pd.DataFrame, problems: list[str], first: str, second: str, metric: str, scales: dict[str, float]
) -> list[float | None]:
    """The mean difference over these problems in % of Uniform, and by how much the better is lower; as verdicts do."""
    if len(problems) < 2 or not all(name in scales for name in problems):
        return [None] * 6
    tables = [scales[name] * values_of(rows[rows["problem"] == name], metric) for name in problems]
    ones, others = ([table[name] for table in tables] for name in (first, second))
    found = difference_over(ones, others)
    if math.isnan(found.low):
        return [None] * 6
    less = reduction(ones, others) if found.mean < 0 else reduction(others, ones)
    known = less is not None and not any(map(math.isnan, less))
    return [found.mean, found.low, found.high, *(less if known and less is not None else [None] * 3)]


def _warnings(
    rows: pd.DataFrame, details: DetailsByCell, parts: Iterable[ProblemDifference], first: str, second: str
) -> list[Any]:
    doubts: list[Any] = cautions(rows, details)
    for part in parts:
        if part.better is not None:
            other = second if part.better == first else first
            crossing = catching_up(rows[rows["problem"] == part.problem], details, part.better, [other])
            doubts = [*([crossing] if crossing.items else []), *doubts]
    return doubts
