"""Optuna's Gaussian process; it also needs PyTorch."""

from __future__ import annotations

import numpy as np

from showdown.tuning.samplers._optuna import ask
from showdown.tuning.space import Space


def propose(space: Space, places: np.ndarray, values: np.ndarray, count: int, seed: int) -> np.ndarray:
    return ask(lambda samplers: samplers.GPSampler(seed=seed), space, places, values, count)
