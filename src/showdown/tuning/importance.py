"""Which fields mattered: the part of the variation of what was measured that each explains, alone or with others.

Taken from the mean of the Gaussian process that fits the history (total-effect indices of Sobol, by Jansen's formula):
a field with 0 could have been left alone, and where fields act together their parts add up to more than 1.
"""

from __future__ import annotations

import numpy as np

from showdown.tuning.history import History
from showdown.tuning.samplers.gp import fit, normal_scores
from showdown.tuning.samplers.sobol import spread

POINTS = 512


def importance(history: History) -> dict[str, float]:
    """By field; nothing where too little was measured."""
    space, values = history.request.space, history.values()
    known = np.isfinite(values)
    dimensions = len(space.dimensions)
    if known.sum() < 2 * (dimensions + 1):
        return {}
    places = space.places([entry.candidate for entry in history.entries])[known]
    process = fit(places, normal_scores(values[known]))
    drawn = spread(POINTS, 2 * dimensions, 0)
    one, other = drawn[:, :dimensions], drawn[:, dimensions:]
    base, _ = process.predict(one)
    variance = float(base.var())
    found = {}
    for number, row in enumerate(space.dimensions):
        changed = one.copy()
        changed[:, number] = other[:, number]
        moved, _ = process.predict(changed)
        found[row.name] = float(((base - moved) ** 2).mean() / (2 * variance)) if variance > 1e-12 else 0.0
    return found
