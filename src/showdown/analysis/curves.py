"""Cumulative regret over time: the mean over trials and its standard error at every checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    steps: np.ndarray  # (points,)
    mean: np.ndarray  # (points,)
    sem: np.ndarray  # (points,) NaN for a single trial
    trials: int = 0  # that the mean is over; 0: not known


def mean_curve(steps: Sequence[int] | np.ndarray, trials: np.ndarray) -> Curve:
    """From the curve of each trial, (trials, points)."""
    steps, trials = np.asarray(steps), np.asarray(trials, float)
    count = len(trials)
    sem = trials.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.full(len(steps), np.nan)
    return Curve(steps, trials.mean(axis=0), sem, count)


def thin(curve: Curve, points: int) -> Curve:
    """At most `points` of its points, evenly spread; the first and the last are always among them."""
    if len(curve.steps) <= points:
        return curve
    kept = np.unique(np.round(np.linspace(0, len(curve.steps) - 1, points)).astype(int))
    return curve._replace(steps=curve.steps[kept], mean=curve.mean[kept], sem=curve.sem[kept])
