"""What a fixed policy would earn, from decisions that another one took: each estimator is a pure function of arrays.

All take `rewards`, `actions` and `propensities` of the log, (rows,) each, and the `target` policy's probabilities,
(rows, num_actions); those with a regression also its `predicted` rewards, (rows, num_actions), made for each row
without that row. With w = target probability of the logged action / its propensity:

- IPS, inverse propensity scoring: the mean of w·r. Unbiased where propensities are right; varies most.
- SNIPS, self-normalised: Σw·r / Σw. Slightly biased, varies less; not affected by a constant added to rewards.
- direct method: the mean of the predicted reward of the target's actions. Varies least, as right as the regression.
- doubly robust: the direct method, plus IPS of what the regression got wrong. Right if either is.

Dudík, Langford, Li (2011); Swaminathan and Joachims (2015).

`RewardModel` predicts what each action would pay: a ridge regression per action. Rewards are shrunk towards the mean of
all rewards, so an action with few rows is predicted to be ordinary. The rows are divided into folds at random and each
fold is predicted from the others (cross-fitting): no row has a part in its own prediction, which keeps the doubly
robust estimator unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from showdown.logged.log import Log

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
    found = np.concatenate(spreads)
    if not len(found):  # all rewards are the same, and the error is one of rounding
        return value, value
    tails = np.quantile(found, [0.5 + level / 2, 0.5 - level / 2])
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


FOLDS = 5
RIDGE = 1.0  # on standardised contexts: as strong as one row


@dataclass(frozen=True, eq=False)
class RewardModel:
    predicted: np.ndarray  # (rows, num_actions), each row from the folds without it
    design: np.ndarray  # (rows, 1 + context_dim)
    fold: np.ndarray  # (rows,) of each row
    inverses: np.ndarray  # (folds, num_actions, 1 + context_dim, 1 + context_dim) of what a fold was predicted with
    actions: np.ndarray  # (rows,)
    residuals: np.ndarray  # (rows,) reward minus prediction of the logged action

    def contributions(self, target: np.ndarray) -> np.ndarray:
        """What each row adds to the direct method's value through the regression, (rows,), in units of one row."""
        added = np.zeros(len(self.fold))
        for fold, inverses in enumerate(self.inverses):
            inside = self.fold == fold
            aim = target[inside].T @ self.design[inside]  # (num_actions, 1 + context_dim)
            pull = np.einsum("aij,aj->ai", inverses, aim)
            added[~inside] += np.einsum("ij,ij->i", self.design[~inside], pull[self.actions[~inside]])
        return added * self.residuals


def fit_rewards(log: Log, seed: int = 0) -> RewardModel:
    design = np.concatenate([np.ones((log.rows, 1)), log.contexts], axis=1, dtype=np.float64)
    folds, width = min(FOLDS, log.rows), design.shape[1]
    fold = np.random.default_rng(seed).permutation(log.rows) % folds
    centre = log.rewards.mean()
    # sums of each fold are made once; what a fold is predicted with is the total without its own
    squares = np.zeros((folds, log.num_actions, width, width))
    products = np.zeros((folds, log.num_actions, width))
    for number in range(folds):
        for action in range(log.num_actions):
            rows = (fold == number) & (log.actions == action)
            squares[number, action] = design[rows].T @ design[rows]
            products[number, action] = design[rows].T @ (log.rewards[rows] - centre)
    inverses = np.linalg.inv(squares.sum(axis=0) - squares + RIDGE * np.eye(width))
    weights = np.einsum("faij,faj->fai", inverses, products.sum(axis=0) - products)
    predicted = np.zeros((log.rows, log.num_actions))
    for number in range(folds):
        inside = fold == number
        predicted[inside] = centre + design[inside] @ weights[number].T
    residuals = log.rewards - predicted[np.arange(log.rows), log.actions]
    return RewardModel(predicted, design, fold, inverses, log.actions, residuals)
