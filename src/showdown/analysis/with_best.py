"""Multiple comparisons with the best (Hsu 1984) on one problem: which policies are behind, and which cannot be told.

Trial i of a problem is the same for all policies, so each rival is compared with the best one by the paired t interval
of their difference over the trials that both have. (A bootstrap of five differences is too narrow; t is not.) The best
is chosen from the same data, so k policies give k − 1 comparisons and each interval has confidence 1 − 0.05 / (k − 1).
The truly best policy is counted as behind only if one of its k − 1 intervals misses, so with probability of at most 5 %
whatever was picked as the best. Holm's step-down levels would be narrower, but hold for a comparison that is chosen
beforehand, which this one is not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

ALPHA = 0.05


class Difference(NamedTuple):
    """Of a policy to another: positive where the policy is worse, in the unit of the values."""

    mean: float
    low: float  # NaN without an interval: fewer than two trials in common
    high: float
    p_value: float  # two-sided, times the number of comparisons; NaN without an interval
    trials: int  # that both have
    wins: int  # trials in which the policy is better
    ties: int

    @property
    def told_apart(self) -> bool:
        return not self.low <= 0 <= self.high and not math.isnan(self.low)


def values_of(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """(trials, policies) values of one problem, NaN for trials that a policy does not have."""
    return frame.pivot(index="trial", columns="policy", values=column)[list(dict.fromkeys(frame["policy"]))]


def difference(one: pd.Series, other: pd.Series, *, worse: int = 1, comparisons: int = 1) -> Difference:
    """Of `one` to `other`, trial by trial; `worse` is 1 where smaller values are better and −1 where larger are."""
    from scipy import stats

    paired = worse * (one - other).dropna().to_numpy(float)
    count = len(paired)
    wins, ties = int((paired < 0).sum()), int((paired == 0).sum())
    mean = float(paired.mean()) if count else math.nan
    if count < 2:
        return Difference(mean, math.nan, math.nan, math.nan, count, wins, ties)
    error = float(paired.std(ddof=1)) / math.sqrt(count)
    if error <= 1e-12 * abs(mean):  # every trial differs by the same
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0, count, wins, ties)
    half = float(stats.t.ppf(1 - ALPHA / (2 * comparisons), count - 1)) * error
    p_value = min(1.0, comparisons * 2 * float(stats.t.sf(abs(mean) / error, count - 1)))
    return Difference(mean, mean - half, mean + half, p_value, count, wins, ties)


def interval(values: pd.Series) -> tuple[float, float]:
    """The 95 % t interval of a mean; NaN for a single trial."""
    from scipy import stats

    held = values.dropna().to_numpy(float)
    if len(held) < 2:
        return math.nan, math.nan
    half = float(stats.t.ppf(1 - ALPHA / 2, len(held) - 1) * held.std(ddof=1) / np.sqrt(len(held)))
    return float(held.mean()) - half, float(held.mean()) + half


def with_best(values: pd.DataFrame, smaller_is_better: bool) -> tuple[str, dict[str, Difference]]:
    """The policy with the best mean, and the difference of every other one to it, the nearest first."""
    worse = 1 if smaller_is_better else -1
    best = str((worse * values.mean()).idxmin())
    others = [str(name) for name in values if name != best]
    found = {name: difference(values[name], values[best], worse=worse, comparisons=len(others)) for name in others}
    return best, dict(sorted(found.items(), key=lambda item: item[1].mean))
