"""Numbers over many problems: ratio to the best, share of problems near it, profiles, improvement and mean rank.

The ratio of a method on a problem is its mean divided by that of the best method there (the other way round where
larger values are better), so 1 is the best and 1.1 is ten per cent worse. Only methods that played the same problems
are put together (`ranks.coverage`); what is left out is returned with the reason.

Each number has two intervals of 95 %. That over trials is about these problems: a paired bootstrap, which draws on
every problem the trials that all methods share. Which method is the best of a problem stays as it was measured; drawing
it anew would call the winner's luck a property of the others. That over problems is about problems like these: a t
interval of the mean over problems, and Wilson's for a share of them. A worst case has none: no sample shows the worst
of others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.analysis.compare import friedman
from showdown.analysis.compare_trials import ALPHA, interval, values_of
from showdown.analysis.ranks import REFERENCES, coverage
from showdown.analysis.summary import cells_with_metric
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN, metric_named

NEAR = 1.05  # "within 5 % of the best"
FEWEST_PROBLEMS = 3  # for an interval over problems
RESAMPLES = 1000
POINTS = 41  # of a profile

Interval = tuple[float, float] | None


class Number(NamedTuple):
    """A number over problems with its two intervals."""

    value: float
    trials: Interval  # of these problems
    problems: Interval  # of problems like these; None for too few of them, and for a worst case


@dataclass(frozen=True)
class Aggregate:
    """One method over all problems."""

    policy: str
    mean_ratio: Number
    worst_ratio: Number
    worst_problem: str
    near: Number  # share of problems where the ratio is at most `NEAR`
    improvement: Number | None  # probability that a trial is better than the same one of the first method; None: itself
    mean_rank: Number
    profile: tuple[float, ...]  # share of problems whose ratio is at most each level


@dataclass(frozen=True)
class Aggregates:
    """All methods that played the same problems, the lowest mean ratio first."""

    metric: str
    problems: tuple[str, ...]
    best: dict[str, str]  # of each problem
    levels: tuple[float, ...]  # of the profiles
    methods: tuple[Aggregate, ...]
    friedman: float | None  # p-value that all are equal; None for two methods or one problem
    critical_difference: float | None  # mean ranks that are further apart differ (Nemenyi)
    left_out: tuple[str, ...]  # sentences


def aggregates(
    frame: pd.DataFrame, metric: str = MAIN, *, expected: bool = False, resamples: int = RESAMPLES
) -> Aggregates:
    """The aggregates of a frame with one cell per (policy, problem); raises UsageError where there are none."""
    asked = metric_named(metric)
    if asked.cell:
        raise UsageError(f"{asked.title} is one number per cell, of which there are no aggregates")
    column = asked.column(expected)
    rows = cells_with_metric(frame, asked, expected).frame
    tables, left_out = _tables(rows, column)
    kept = {name: table for name, table in tables.items() if (table.mean() > 0).all() and len(table.dropna()) > 1}
    left_out += [f"{name}: {_why(table)}" for name, table in tables.items() if name not in kept]
    if not kept or len(next(iter(kept.values())).columns) < 2:
        raise UsageError("aggregates need two methods that played the same problems with two trials or more")
    found = _aggregate(kept, 1 if asked.smaller_is_better else -1, resamples)
    return replace(found, metric=column, left_out=tuple(left_out))


def _tables(rows: pd.DataFrame, column: str) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Of each problem that counts, (trials, methods); and sentences about the others and about methods with gaps."""
    found = coverage(rows)
    methods = [name for name in found.policies if name not in REFERENCES]
    asked = list(dict.fromkeys(rows["problem"]))
    absent = [name for name in asked if name not in found.problems]
    gaps = [f"{name} ({found.played[name]} of {found.total})" for name in found.left_out if name not in REFERENCES]
    said = []
    if absent:
        said.append(f"{_listed(absent)}: not played by all of the methods that are put together")
    if gaps:
        said.append(f"{_listed(gaps)}: played too few of the problems")
    counted = rows[rows["policy"].isin(methods) & rows["problem"].isin(found.problems)]
    return {str(name): values_of(group, column) for name, group in counted.groupby("problem", sort=False)}, said


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _why(table: pd.DataFrame) -> str:
    if (table.mean() > 0).all():
        return "the methods share fewer than two trials there"
    return f"the mean of {table.mean().idxmin()} is not above 0 there, so there is no ratio"


def _aggregate(tables: dict[str, pd.DataFrame], worse: int, resamples: int) -> Aggregates:
    names = [str(name) for name in next(iter(tables.values()))]
    problems = list(tables)
    values = [table[names] for table in tables.values()]
    means = np.stack([table.mean().to_numpy(float) for table in values])  # (problems, methods)
    best = (worse * means).argmin(axis=1)  # (problems,)
    ratios = _ratios(means[None], best, worse)[0]  # (problems, methods)
    first = int(ratios.mean(axis=0).argmin())
    wins = [_wins(table, first, worse) for table in values]  # of each problem (trials, methods)
    pairs = zip(values, wins, strict=True)
    drawn = [_resampled([table, win], resamples, number) for number, (table, win) in enumerate(pairs)]
    drawn_means = np.stack([one[0] for one in drawn], axis=1)  # (resamples, problems, methods)
    drawn_wins = np.stack([one[1] for one in drawn], axis=1).mean(axis=1)  # (resamples, methods), as what follows
    drawn_ratios = _ratios(drawn_means, best, worse)
    drawn_worst, drawn_near = drawn_ratios.max(axis=1), (drawn_ratios <= NEAR).mean(axis=1)
    drawn_ratios = drawn_ratios.mean(axis=1)
    improvement = np.stack([np.nanmean(win, axis=0) for win in wins])
    ranks, drawn_ranks = _ranks(worse * means), _ranks(worse * drawn_means).mean(axis=1)
    levels = np.geomspace(1, max(1.1, float(ratios.max())), POINTS)
    order = sorted(range(len(names)), key=lambda place: ratios[:, place].mean())

    def over(one: np.ndarray, resampled: np.ndarray, place: int) -> Number:
        return Number(float(one[:, place].mean()), _ends(resampled[:, place]), _of_mean(one[:, place]))

    def method(place: int) -> Aggregate:
        mine = ratios[:, place]
        near = (mine <= NEAR).astype(float)
        return Aggregate(
            names[place],
            _clipped(over(ratios, drawn_ratios, place), 1, math.inf),
            Number(float(mine.max()), _ends(drawn_worst[:, place]), None),
            problems[int(mine.argmax())],
            Number(float(near.mean()), _ends(drawn_near[:, place]), _of_share(near)),
            None if place == first else _clipped(over(improvement, drawn_wins, place), 0, 1),
            over(ranks, drawn_ranks, place),
            tuple(float(share) for share in (mine[None] <= levels[:, None] + 1e-12).mean(axis=1)),
        )

    test = friedman(_tidy(worse * means, names, problems)) if len(names) > 2 and len(problems) > 1 else None
    return Aggregates(
        MAIN,
        tuple(problems),
        {problem: names[place] for problem, place in zip(problems, best, strict=True)},
        tuple(map(float, levels)),
        tuple(method(place) for place in order),
        test["p_value"] if test else None,
        test["critical_difference"] if test else None,
        (),
    )


def _ratios(means: np.ndarray, best: np.ndarray, worse: int) -> np.ndarray:
    """Ratios to the best method of each problem, of means (draws, problems, methods)."""
    reference = np.take_along_axis(means, best[None, :, None], axis=2)
    return means / reference if worse > 0 else reference / means


def _wins(table: pd.DataFrame, first: int, worse: int) -> np.ndarray:
    """1 where a trial is better than the same one of the method `first`, 0.5 where equal; NaN where one is missing."""
    values = worse * table.to_numpy(float)
    apart = values[:, [first]] - values
    return np.where(np.isnan(apart), np.nan, (apart > 0) + 0.5 * (apart == 0))


def _resampled(tables: list[pd.DataFrame | np.ndarray], resamples: int, seed: int) -> list[np.ndarray]:
    """Means of each table, (resamples, methods), over drawn trials; the same trials are drawn in all of them.

    Trials that only some methods have count for the means and not for their spread. n draws of n trials vary less than
    new trials would, by (n − 1) / n, which is put right.
    """
    arrays = [np.asarray(table, float) for table in tables]
    shared = ~np.isnan(arrays[0]).any(axis=1)
    count = int(shared.sum())
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples) / count
    wider = math.sqrt(count / (count - 1))
    held = [array[shared] for array in arrays]
    return [
        np.nanmean(array, axis=0) + wider * (weights @ own - own.mean(axis=0))
        for array, own in zip(arrays, held, strict=True)
    ]


def _ranks(values: np.ndarray) -> np.ndarray:
    from scipy import stats

    return np.asarray(stats.rankdata(values, axis=-1))


def _ends(drawn: np.ndarray) -> Interval:
    low, high = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


def _of_mean(each: np.ndarray) -> Interval:
    """The t interval of a mean over problems."""
    return interval(pd.Series(each)) if len(each) >= FEWEST_PROBLEMS else None


def _of_share(each: np.ndarray) -> Interval:
    """Wilson's interval of a share of problems."""
    if len(each) < FEWEST_PROBLEMS:
        return None
    from scipy import stats

    found = stats.binomtest(int(each.sum()), len(each)).proportion_ci(1 - ALPHA, method="wilson")
    return float(found.low), float(found.high)


def _clipped(number: Number, least: float, most: float) -> Number:
    """The number with intervals that stay within what is possible."""

    def inside(ends: Interval) -> Interval:
        return None if ends is None else (max(ends[0], least), min(ends[1], most))

    return Number(number.value, inside(number.trials), inside(number.problems))


def _tidy(means: np.ndarray, names: list[str], problems: list[str]) -> pd.DataFrame:
    return pd.DataFrame(means, index=problems, columns=names).rename_axis("problem").melt(
        var_name="policy", value_name="mean", ignore_index=False
    ).reset_index()  # fmt: skip
