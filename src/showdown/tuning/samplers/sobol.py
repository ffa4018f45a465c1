"""Evenly spread places (a scrambled Sobol sequence), whatever was measured. Every tuning begins with these."""

from __future__ import annotations

import numpy as np

from showdown.tuning.space import Space


def propose(space: Space, places: np.ndarray, values: np.ndarray, count: int, seed: int) -> np.ndarray:
    return spread(count, len(space.dimensions), seed)


def spread(count: int, dimensions: int, seed: int) -> np.ndarray:
    """(count, dimensions) the first points of one sequence; whole powers of two are what the sequence is made for."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, seed=np.random.default_rng(seed))
    return np.asarray(sequence.random_base2(max(1, (count - 1).bit_length())))[:count]
