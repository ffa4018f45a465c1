"""What each action would pay, predicted from the context: a ridge regression per action, made on the other rows.

Rewards are shrunk towards the mean of all rewards, so an action with few rows is predicted to be ordinary. The rows are
divided into folds at random and each fold is predicted from the others (cross-fitting): no row has a part in its own
prediction, which keeps the doubly robust estimator unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showdown.logged.log import Log

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
