"""Who is ahead on the problems that were played: the mean over them in a common unit, compared trial by trial.

Nothing is said here about other problems: the only luck is that of the trials. The value of a policy is the plain mean
of its values on the problems (% of Uniform, or a share), the unit of the tables, which exists for a regret of 0 too.
Its error follows from the errors on the problems, and so does that of a difference, which is paired wherever the trials
are. t intervals with Satterthwaite's degrees of freedom: with a few trials a bootstrap is too narrow. How much less one
has than another is the ratio of two such means, with Fieller's interval, which contains "no less" exactly where the
difference cannot be told from 0. So a size and a claim cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.analysis.compare_trials import ALPHA, Difference, difference, from_spread, interval

Tables = Sequence[pd.DataFrame]  # of each problem the values in the common unit, (trials, policies)


class Mean(NamedTuple):
    """A mean over problems with its 95 % interval."""

    mean: float
    low: float  # NaN where a problem has a single trial
    high: float


@dataclass(frozen=True)
class Lead:
    """How much less (or more) the best has than the next."""

    over: str  # the next
    amount: float  # in per cent of the other's value, or in the verdict's unit
    low: float | None  # its interval, corrected for the number of comparisons; None where it is unbounded
    high: float | None
    relative: bool  # whether the amount is in per cent


def mean_over(columns: Sequence[pd.Series], is_share: bool = False) -> Mean:
    """The mean over problems of one policy's means, with its interval over trials."""
    if len(columns) == 1:
        return Mean(float(columns[0].mean()), *interval(columns[0], is_share))
    from scipy import special

    mean, variance, freedom = _spread(columns)
    half = float(special.stdtrit(freedom, 1 - ALPHA / 2)) * math.sqrt(variance) if variance else 0.0 * variance
    low, high = mean - half, mean + half
    return Mean(mean, max(low, 0.0), min(high, 1.0)) if is_share else Mean(mean, low, high)


def _spread(columns: Sequence[pd.Series]) -> tuple[float, float, float]:
    """The mean over problems, the variance of this mean, and its degrees of freedom."""
    held = [column.dropna().to_numpy(float) for column in columns]
    parts = [float(values.var(ddof=1)) / len(values) if len(values) > 1 else math.nan for values in held]
    mean = float(np.mean([values.mean() for values in held]))
    return mean, sum(parts) / len(held) ** 2, _satterthwaite(parts, [len(values) - 1 for values in held])


def _satterthwaite(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """The degrees of freedom of a sum of variances."""
    squares = sum(part**2 / freedom for part, freedom in zip(variances, freedoms, strict=True) if part)
    return sum(variances) ** 2 / squares if squares else max(1.0, sum(freedoms))


def difference_over(
    ones: Sequence[pd.Series], others: Sequence[pd.Series], *, worse: int = 1, comparisons: int = 1
) -> Difference:
    """How much worse one policy is than another in the mean over problems; the arguments are those of `difference`."""
    each = [difference(one, other, worse=worse) for one, other in zip(ones, others, strict=True)]
    if len(each) == 1:
        return difference(ones[0], others[0], worse=worse, comparisons=comparisons)
    variances = [found.error**2 for found in each]
    counted = sum(found.trials for found in each), sum(found.wins for found in each), sum(found.ties for found in each)
    mean = float(np.mean([found.mean for found in each]))
    if any(math.isnan(part) for part in variances):
        return Difference(mean, math.nan, math.nan, math.nan, *counted)
    error = math.sqrt(sum(variances)) / len(each)
    freedom = _satterthwaite(variances, [found.freedom for found in each])
    enough = not any(math.isnan(found.p_value) for found in each)
    return from_spread(mean, error, freedom, counted, comparisons=comparisons, enough=enough)


def compare_with_best(tables: Tables, smaller_is_better: bool) -> tuple[str, dict[str, Difference]]:
    """The policy with the best mean, and the difference of every other one to it, the nearest first.

    Multiple comparisons with the best (Hsu 1984): the best is chosen from the same data, so k policies give k − 1
    comparisons and each interval has confidence 1 − 0.05 / (k − 1). The truly best policy is counted as behind only if
    one of its k − 1 intervals misses, so with probability of at most 5 %, whichever was picked as the best. Holm's
    step-down levels would be narrower, but they are for comparisons that are chosen beforehand.
    """
    worse = 1 if smaller_is_better else -1
    names = [str(name) for name in tables[0]]
    means = {name: worse * mean_of(tables, name) for name in names}
    best = min(names, key=lambda name: means[name])
    others = [name for name in names if name != best]
    found = {
        name: difference_over(
            columns_of(tables, name), columns_of(tables, best), worse=worse, comparisons=max(1, len(others))
        )
        for name in others
    }
    return best, dict(sorted(found.items(), key=lambda item: item[1].mean))


def columns_of(tables: Tables, name: str) -> list[pd.Series]:
    """The trials of one policy, problem by problem."""
    return [table[name] for table in tables]


def mean_of(tables: Tables, name: str) -> float:
    """The mean over problems of one policy."""
    return float(np.mean([table[name].mean() for table in tables]))


def reduction(best: Sequence[pd.Series], other: Sequence[pd.Series], comparisons: int = 1) -> tuple[float, ...] | None:
    """By how many per cent `best` is lower than `other`, with Fieller's interval; None where that has no meaning.

    The interval is NaN where it is unbounded, because the other mean itself is not clearly above 0.
    """
    from scipy import special

    (mine, own_variance, _), (theirs, variance, _) = _spread(best), _spread(other)
    found = difference_over(best, other)
    if theirs <= 0 or mine < 0 or math.isnan(found.error):
        return None
    together = (own_variance + variance - found.error**2) / 2  # the covariance of the two means
    square = 0.0 if found.error == 0 else float(special.stdtrit(found.freedom, 1 - ALPHA / (2 * comparisons))) ** 2
    leading = theirs**2 - square * variance
    middle = mine * theirs - square * together
    inside = middle**2 - leading * (mine**2 - square * own_variance)
    if leading <= 0 or inside < 0:
        return 100 * (1 - mine / theirs), math.nan, math.nan
    ends = [(middle + sign * math.sqrt(inside)) / leading for sign in (1, -1)]
    return 100 * (1 - mine / theirs), *(100 * (1 - end) for end in ends)
