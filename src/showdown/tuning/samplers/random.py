"""Random search: every place alike, whatever was measured. What other samplers have to beat."""

from __future__ import annotations

import numpy as np

from showdown.tuning.space import Space


def propose(space: Space, places: np.ndarray, values: np.ndarray, count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((count, len(space.dimensions)))
