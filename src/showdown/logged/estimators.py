"""What a fixed policy would earn, from decisions that another one took: each estimator is a pure function of arrays.

All take `rewards`, `actions` and `propensities` of the log, (rows,) each, and the `target` policy's probabilities,
(rows, num_actions); those with a regression also its `predicted` rewards, (rows, num_actions), made for each row
without that row. With w = target probability of the logged action / its propensity:

- IPS, inverse propensity scoring: the mean of w·r. Unbiased where propensities are right; varies most.
- SNIPS, self-normalised: Σw·r / Σw. Slightly biased, varies less; not affected by a constant added to rewards.
- direct method: the mean of the predicted reward of the target's actions. Varies least, as right as the regression.
- doubly robust: the direct method, plus IPS of what the regression got wrong. Right if either is.

Dudík, Langford, Li (2011); Swaminathan and Joachims (2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

RESAMPLES = 1000  # of a bootstrap
BOOTSTRAP_ROWS = 20_000  # with a weight; beyond, the normal interval of a ratio is as good and far cheaper


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    value: float
    standard_error: float
    low: float
    high: float
    interval: str  # how it was made: normal or bootstrap
    effective: float  # rows that count: (Σw)² / Σw², or all of them where nothing is weighted


def weights(actions: np.ndarray, propensities: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How much likelier the target takes the logged action than the log did, (rows,)."""
    return target[np.arange(len(actions)), actions] / propensities


def effective_rows(weight: np.ndarray) -> float:
    total = weight.sum()
    return float(total**2 / np.square(weight).sum()) if total > 0 else 0.0


def mean_of(values: np.ndarray, effective: float, level: float = 0.95) -> Estimate:
    """The mean of independent rows, with its normal interval."""
    value = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    reach = float(norm.ppf(0.5 + level / 2)) * error
    return Estimate(value, error, value - reach, value + reach, "normal", effective)


def ips(
    rewards: np.ndarray, actions: np.ndarray, propensities: np.ndarray, target: np.ndarray, *, level: float = 0.95
) -> Estimate:
    weight = weights(actions, propensities, target)
    return mean_of(weight * rewards, effective_rows(weight), level)


def snips(
    rewards: np.ndarray,
    actions: np.ndarray,
    propensities: np.ndarray,
    target: np.ndarray,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """A bootstrap interval, because a ratio of sums is skewed where few rows have weight. NaN where none has."""
    weight = weights(actions, propensities, target)
    effective, total = effective_rows(weight), weight.sum()
    if total == 0:
        nan = float("nan")
        return Estimate(nan, nan, nan, nan, "bootstrap", 0.0)
    value = float(weight @ rewards / total)
    error = float(np.sqrt(np.square(weight * (rewards - value)).sum()) / total)  # of the linearised ratio
    some = weight > 0
    if some.sum() > BOOTSTRAP_ROWS:
        reach = float(norm.ppf(0.5 + level / 2)) * error
        return Estimate(value, error, value - reach, value + reach, "normal", effective)
    low, high = _ratio_interval(weight[some], rewards[some], value, error, level, seed)
    return Estimate(value, error, low, high, "bootstrap", effective)


def _ratio_interval(
    weight: np.ndarray, rewards: np.ndarray, value: float, error: float, level: float, seed: int
) -> tuple[float, float]:
    """The studentised bootstrap: how far resampled ratios lie from the ratio, in their own standard errors."""
    if error == 0:
        return value, value
    draw, rows = np.random.default_rng(seed), len(weight)
    spreads = []
    for first in range(0, RESAMPLES, 100):
        times = draw.poisson(1.0, (min(100, RESAMPLES - first), rows))
        total = np.maximum(times @ weight, np.finfo(float).tiny)
        ratio = times @ (weight * rewards) / total
        squares = times @ np.square(weight * rewards) - 2 * ratio * (times @ (weight**2 * rewards))
        squares = np.maximum(squares + ratio**2 * (times @ weight**2), 0)
        own = np.sqrt(squares) / total
        spreads.append((ratio - value)[own > 0] / own[own > 0])
    tails = np.quantile(np.concatenate(spreads), [0.5 + level / 2, 0.5 - level / 2])
    return float(value - tails[0] * error), float(value - tails[1] * error)


def direct_method(
    target: np.ndarray, predicted: np.ndarray, *, fitted: np.ndarray | float = 0.0, level: float = 0.95
) -> Estimate:
    """`fitted` is what each row contributes through the regression, (rows,), with mean near 0: for the interval only.

    Without it the interval includes the drawing of contexts and not that of the rewards the regression learned from.
    """
    expected = (target * predicted).sum(axis=1)
    spread = mean_of(expected + fitted, float(len(expected)), level)
    shift = float(expected.mean()) - spread.value
    return Estimate(
        spread.value + shift,
        spread.standard_error,
        spread.low + shift,
        spread.high + shift,
        "normal",
        spread.effective,
    )


def doubly_robust(
    rewards: np.ndarray,
    actions: np.ndarray,
    propensities: np.ndarray,
    target: np.ndarray,
    predicted: np.ndarray,
    *,
    level: float = 0.95,
) -> Estimate:
    weight = weights(actions, propensities, target)
    wrong = rewards - predicted[np.arange(len(actions)), actions]
    return mean_of((target * predicted).sum(axis=1) + weight * wrong, effective_rows(weight), level)
