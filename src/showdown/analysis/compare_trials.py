"""Two policies on one problem, trial by trial: the difference with its interval, and the interval of a mean.

Trial i of a problem is the same for all policies, so each rival is compared with the best one by the paired t interval
of their difference. (A bootstrap of five differences is too narrow; t is not.) The best is chosen from the same data,
so k policies give k − 1 comparisons and each interval has confidence 1 − 0.05 / (k − 1). The truly best policy is
counted as behind only if one of its k − 1 intervals misses, so with probability of at most 5 %, whichever was picked
as the best. Holm's step-down levels would be narrower, but they are for comparisons that are chosen beforehand.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

ALPHA = 0.05
# Trials for a p-value. Of two, the test knows the spread from one number, which may be tiny by luck, and nothing
# shows whether it is that of a normal distribution: differences of +1 or -1 at random are alike every second time.
FEWEST = 3
BETTER, WORSE, NO_DIFFERENCE = "better", "worse", "no difference shown"


class Difference(NamedTuple):
    """How much worse a policy is than another, in the unit of the values; negative where it is better."""

    mean: float
    low: float  # NaN without an interval: one of the two has a single trial
    high: float
    p_value: float  # two-sided, times the number of comparisons; NaN for fewer than three trials of one of the two
    trials: int  # that both have
    wins: int  # trials in which the policy is better
    ties: int
    error: float = math.nan  # standard error of `mean`
    freedom: float = math.nan  # its degrees of freedom
    alone: float = math.nan  # two-sided p-value of this pair by itself

    @property
    def behind(self) -> bool:
        """Whether the policy is worse, whichever of all was chosen to be compared with."""
        return self.told_apart and self.mean > 0

    @property
    def behind_alone(self) -> bool:
        """Whether the policy is worse for somebody who compares these two alone, as `showdown compare` does."""
        return self.mean > 0 and self.alone < ALPHA

    @property
    def told_apart(self) -> bool:
        """Whether the interval excludes 0."""
        return not self.low <= 0 <= self.high and not math.isnan(self.low)

    @property
    def verdict(self) -> str:
        """Whether the policy is BETTER, WORSE, or shows NO_DIFFERENCE."""
        if not self.told_apart:
            return NO_DIFFERENCE
        return WORSE if self.mean > 0 else BETTER


def values_of(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """The values of one problem, (trials, policies); NaN for trials that a policy does not have."""
    return frame.pivot(index="trial", columns="policy", values=column)[list(dict.fromkeys(frame["policy"]))]


def difference(one: pd.Series, other: pd.Series, *, worse: int = 1, comparisons: int = 1) -> Difference:
    """How much worse `one` is than `other`; `worse` is 1 where smaller values are better and −1 where larger are.

    The paired t test where both have the same trials; where one has more, all trials count and those that both have
    are paired (the t test for partially overlapping samples of Derrick et al. 2017, which is Welch's without pairs).
    """
    if not one.index.equals(other.index):
        one, other = one.align(other)
    first, second = worse * one.to_numpy(float), worse * other.to_numpy(float)
    held = ~np.isnan(first), ~np.isnan(second)
    both = held[0] & held[1]
    paired = first[both] - second[both]
    counted = len(paired), int((paired < 0).sum()), int((paired == 0).sum())
    own = first[held[0]], second[held[1]]
    if min(map(len, own)) < 2:
        mean = float(own[0].mean() - own[1].mean()) if all(map(len, own)) else math.nan
        return Difference(mean, math.nan, math.nan, math.nan, *counted)
    if len(paired) == len(own[0]) == len(own[1]):
        spread = _paired(paired)
    else:
        spread = _partly(own, (first[both], second[both]))
    enough = min(map(len, own)) >= FEWEST
    return from_spread(*spread, counted, comparisons=comparisons, enough=enough)


def from_spread(
    mean: float, error: float, freedom: float, counted: tuple[int, int, int], *, comparisons: int, enough: bool
) -> Difference:
    """The difference with its t interval and p-value, corrected for the number of comparisons (Bonferroni)."""
    from scipy import special

    if error <= 1e-12 * abs(mean):  # every trial differs by the same
        half, alone = 0.0, 1.0 if mean == 0 else 0.0
    else:
        half = float(special.stdtrit(freedom, 1 - ALPHA / (2 * comparisons))) * error
        alone = 2 * float(special.stdtr(freedom, -abs(mean) / error))
    p_value = min(1.0, comparisons * alone) if enough else math.nan
    return Difference(mean, mean - half, mean + half, p_value, *counted, error, freedom, alone)


def _paired(differences: np.ndarray) -> tuple[float, float, float]:
    """Mean, standard error and degrees of freedom of paired differences."""
    count = len(differences)
    return float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(count), count - 1


Pair = tuple[np.ndarray, np.ndarray]


def _partly(samples: Pair, shared: Pair) -> tuple[float, float, float]:
    """The same for the difference of two means whose samples are paired only in part: in `shared`."""
    pairs, sizes = len(shared[0]), (len(samples[0]), len(samples[1]))
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    total = parts[0] + parts[1]
    together = float(np.cov(*shared)[0, 1]) * pairs / (sizes[0] * sizes[1]) if pairs > 2 else 0.0
    error = math.sqrt(max(total - 2 * together, 0.0))
    squares = sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    welch = total**2 / squares if squares else 1.0
    alone = sizes[0] + sizes[1] - 2 * pairs
    freedom = pairs - 1 + (welch - pairs + 1) / (sizes[0] + sizes[1]) * alone if pairs > 2 else welch
    return float(samples[0].mean() - samples[1].mean()), error, max(freedom, 1.0)


def interval(values: pd.Series, is_share: bool = False) -> tuple[float, float]:
    """The 95 % t interval of a mean; NaN for a single trial. The interval of a share stays within 0 and 1."""
    from scipy import special

    held = values.dropna().to_numpy(float)
    if len(held) < 2:
        return math.nan, math.nan
    half = float(special.stdtrit(len(held) - 1, 1 - ALPHA / 2) * held.std(ddof=1) / np.sqrt(len(held)))
    low, high = float(held.mean()) - half, float(held.mean()) + half
    return (max(low, 0.0), min(high, 1.0)) if is_share else (low, high)
