"""The parts of a verdict: who is ahead on these problems, by numbers or by ranks, and what that says of a new one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from showdown.analysis.compare_problems import (
    Lead,
    Tables,
    columns_of,
    compare_with_best,
    difference_over,
    mean_of,
    mean_over,
    reduction,
)
from showdown.analysis.compare_ranks import RankComparison, compare_mean_ranks, problems_needed
from showdown.analysis.compare_trials import Difference, values_of
from showdown.analysis.ranks import REFERENCES
from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import RANK_UNIT, NewProblem, Rival, tied_among
from showdown.metrics import BEST_FIXED
from showdown.metrics.metric import Metric

Scales = Mapping[str, float]  # problem to what brings its values to the common unit


def common_unit(rows: pd.DataFrame, metric: Metric, column: str) -> tuple[dict[str, float] | None, str]:
    """What brings the values of each problem to a common unit, and the unit; None where nothing does."""
    problems = [str(name) for name in rows["problem"].unique()]
    uniform = rows[rows["policy"] == BASELINE].groupby("problem")[column].mean()
    if metric.baseline == BASELINE and len(uniform) == len(problems) and (uniform > 0).all():
        return {str(name): 100 / mean for name, mean in uniform.items()}, f"% of {BASELINE}"
    same = metric.is_share or len(problems) == 1
    return (dict.fromkeys(problems, 1.0) if same else None), metric.unit


def here(rows: pd.DataFrame, metric: Metric, column: str, scales: Scales, unit: str) -> dict[str, Any]:
    """The fields of a verdict about these problems, whose values `scales` brings to a common unit."""
    tables = [
        scales[str(name)] * values_of(group, column) for name, group in rows.groupby("problem", sort=False)
    ]  # every policy played every problem
    methods = [table[[name for name in table if name not in REFERENCES]] for table in tables]
    best, others = compare_with_best(methods, metric.smaller_is_better)
    value = mean_over(columns_of(tables, best), metric.is_share)
    if math.isnan(value.low) or any(math.isnan(found.low) for found in others.values()):
        return {"best": None, "reason": "a single trial gives no interval", "unit": metric.unit}
    rivals = tuple(_rival(name, mean_of(tables, name), found) for name, found in others.items())
    return {
        "best": best,
        "value": value.mean,
        "low": value.low,
        "high": value.high,
        "unit": unit,
        "rivals": rivals,
        "references": _references(rows, tables, best, metric, column, scales),
        "tied": tied_among(rivals),
        "lead": _lead(tables, best, rivals, metric),
        "test": "paired t test over trials, Bonferroni",
        **certainty(best, rivals),
    }


def _rival(name: str, value: float, found: Difference) -> Rival:
    mean, low, high, p_value = (
        None if math.isnan(number) else number for number in (found.mean, found.low, found.high, found.p_value)
    )
    return Rival(name, value, mean or 0.0, low, high, p_value, found.behind, found.behind_alone)


def _references(
    rows: pd.DataFrame, tables: Tables, best: str, metric: Metric, column: str, scales: Scales
) -> tuple[Rival, ...]:
    """Uniform and, where the metric has one, the best fixed action, compared with the best method."""
    worse = 1 if metric.smaller_is_better else -1
    against = {name: columns_of(tables, name) for name in REFERENCES if all(name in table for table in tables)}
    if metric.fixed_column in rows and column == metric.name:
        groups = rows.groupby("problem", sort=False)
        fixed = [
            scales[str(name)] * group.drop_duplicates("trial").set_index("trial")[metric.fixed_column]
            for name, group in groups
        ]
        against |= {BEST_FIXED: fixed} if all(one.notna().sum() > 1 for one in fixed) else {}
    mine = columns_of(tables, best)
    return tuple(
        _rival(name, mean_over(columns).mean, difference_over(columns, mine, worse=worse))
        for name, columns in against.items()
    )


def _lead(tables: Tables, best: str, rivals: Sequence[Rival], metric: Metric) -> Lead | None:
    """How much less the best has than the next: in per cent for a regret, else in the unit of the values."""
    if not rivals:
        return None
    next_one = rivals[0]
    if not metric.smaller_is_better:
        return Lead(next_one.policy, next_one.difference, next_one.low, next_one.high, relative=False)
    columns = columns_of(tables, best), columns_of(tables, next_one.policy)
    found = reduction(*columns, comparisons=len(rivals))
    if found is None:
        return None
    low, high = (None if math.isnan(end) else end for end in found[1:])
    return Lead(next_one.policy, found[0], low, high, relative=True)


def certainty(best: str, rivals: Sequence[Rival]) -> dict[str, Any]:
    """How sure it is that the best is the best: the largest p-value, the pair that it is about, and a word."""
    known = [rival for rival in rivals if rival.p_value is not None]
    nearest = max(known, key=lambda rival: rival.p_value or 0.0, default=None) if len(known) == len(rivals) else None
    p_value = None if nearest is None else nearest.p_value
    return {
        "p_value": p_value,
        "pair": None if nearest is None else (best, nearest.policy),
        "sure": how_sure(p_value, rivals),
    }


def how_sure(p_value: float | None, rivals: Sequence[Rival]) -> str:
    """In words, how sure it is that the best is the best: `Verdict.sure`."""
    if not rivals:
        return "alone"
    if tied_among(rivals):
        return "a tie"
    if not all(rival.behind for rival in rivals):
        return "fairly sure"
    if p_value is None:
        return "too few trials"
    return "sure" if p_value >= 0.001 else "very sure"


def by_ranks(found: RankComparison) -> dict[str, Any]:
    """The fields of a verdict over problems that have no common unit."""
    rivals = tuple(
        Rival(
            name,
            found.ranks[name],
            item.mean,
            item.low,
            item.high,
            item.p_value,
            item.told_apart,
            item.told_apart_alone,
        )
        for name, item in found.differences.items()
    )
    return {
        "best": found.best,
        "value": found.rank,
        "low": found.low,
        "high": found.high,
        "unit": RANK_UNIT,
        "rivals": rivals,
        "tied": tied_among(rivals),
        "p_value": found.p_value,
        "pair": found.pair,
        "sure": how_sure(found.p_value, rivals),
        "test": found.test,
    }


def ranked(rows: pd.DataFrame, metric: Metric, column: str, scales: Scales | None) -> RankComparison:
    """Compare the methods by their mean ranks over several problems."""
    methods = rows[~rows["policy"].isin(REFERENCES)]
    return compare_mean_ranks(methods, column, metric.smaller_is_better, scales)


def new_problem(found: RankComparison, problems: int, worse_here: frozenset[str]) -> NewProblem:
    """What the ranks say of a new problem; no rival that is worse on these problems is called as good."""
    others = found.differences
    tied = [name for name, item in others.items() if not item.told_apart and not item.told_apart_alone]
    return NewProblem(
        best=found.best,
        rank=found.rank,
        low=found.low,
        high=found.high,
        tied=tuple(name for name in tied if name not in worse_here),
        behind=sum(item.told_apart for item in others.values()),
        methods=len(others) + 1,
        problems=problems,
        needed=problems_needed(len(others) + 1),
        p_value=found.p_value,
        test=found.test,
        pair=found.pair,
        enough=found.enough,
    )
