"""What an overview shows of all methods at once: means over problems, how often each beats another, and profiles.

All three are over the problems that the verdict is about and in its common unit, with its intervals
(`compare_problems.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from showdown.analysis.compare_problems import Mean, columns_of, mean_of, mean_over
from showdown.analysis.compare_trials import values_of
from showdown.analysis.ranks import REFERENCES, coverage
from showdown.analysis.summary import cells_with_metric
from showdown.analysis.verdict_parts import common_unit
from showdown.metrics import metric_named

POINTS = 41  # of a profile


@dataclass(frozen=True)
class MethodOverview:
    """One method beside all others."""

    policy: str
    aggregate: Mean  # over problems, in the common unit
    improvement: Mean | None  # probability that the best method is better in a trial; None for the best itself
    profile: tuple[float, ...]  # share of trials, each problem counting the same, that are at least as good as a level


@dataclass(frozen=True)
class Overview:
    """All methods that played the same problems, the best first."""

    unit: str
    problems: int
    levels: tuple[float, ...]  # of the profiles
    methods: tuple[MethodOverview, ...]


def overview(frame: pd.DataFrame, metric: str) -> Overview | None:
    """The overview by a metric; None where it has no common unit, or where there are no two methods with intervals."""
    asked = metric_named(metric)
    if asked.cell:
        return None
    rows = cells_with_metric(frame, asked).frame
    found = coverage(rows)
    rows = rows[rows["problem"].isin(found.problems) & rows["policy"].isin(found.policies)]
    if rows.empty or rows.groupby(["policy", "problem"])["trial"].size().min() < 2:
        return None
    scales, unit = common_unit(rows, asked, asked.name)
    names = [name for name in dict.fromkeys(rows["policy"]) if name not in REFERENCES]
    if scales is None or len(names) < 2:
        return None
    tables = [scales[str(name)] * values_of(group, metric) for name, group in rows.groupby("problem", sort=False)]
    worse = 1 if asked.smaller_is_better else -1
    order = sorted(names, key=lambda name: worse * mean_of(tables, name))
    levels = _levels(tables, names)
    methods = tuple(
        MethodOverview(
            name,
            mean_over(columns_of(tables, name), asked.is_share),
            None if name == order[0] else _improvement(tables, order[0], name, worse),
            tuple(float(share) for share in _profile(tables, name, levels, worse)),
        )
        for name in order
    )
    return Overview(unit, len(tables), tuple(map(float, levels)), methods)


def _improvement(tables: list[pd.DataFrame], best: str, other: str, worse: int) -> Mean | None:
    """The share of the trials that both have in which the best is better, a tie counting half; mean over problems."""
    wins = []
    for table in tables:
        apart = worse * (table[other].to_numpy(float) - table[best].to_numpy(float))
        both = apart[~np.isnan(apart)]
        wins.append(pd.Series((both > 0) + 0.5 * (both == 0)))
    return mean_over(wins, is_share=True) if all(len(one) > 1 for one in wins) else None


def _levels(tables: list[pd.DataFrame], names: list[str]) -> np.ndarray:
    """Levels from the best trial to the worst; logarithmic where trials differ by more than ten times."""
    values = np.concatenate([table[names].to_numpy(float).ravel() for table in tables])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low > 0 and high / low > 10:
        return np.geomspace(low, high, POINTS)
    return np.linspace(low, high if not math.isclose(low, high) else low + 1, POINTS)


def _profile(tables: list[pd.DataFrame], name: str, levels: np.ndarray, worse: int) -> np.ndarray:
    """The share of trials that are at least as good as each level, each problem counting the same."""
    shares = []
    for table in tables:
        values = worse * table[name].dropna().to_numpy(float)
        shares.append((values[None] <= worse * levels[:, None] + 1e-12).mean(axis=1))
    return np.mean(shares, axis=0)
