"""Optuna's tree-structured Parzen estimator."""

from __future__ import annotations

import numpy as np

from showdown.tuning.samplers._optuna import ask
from showdown.tuning.space import Space


def propose(space: Space, places: np.ndarray, values: np.ndarray, count: int, seed: int) -> np.ndarray:
    def make(samplers):
        return samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)

    return ask(make, space, places, values, count)
