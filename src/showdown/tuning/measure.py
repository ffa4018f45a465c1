"""From stored trials to the number that a tuning makes small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Trials = np.ndarray  # (trials,) of one candidate on one problem, in the unit of the objective, smaller is better


def losses(objective: str, columns: Mapping[str, np.ndarray]) -> Trials:
    """What each trial lost. A reward is turned round, so that smaller is better throughout."""
    values = np.asarray(columns[objective], float)
    return -values if objective == "reward" else values


def combined(measured: Sequence[Sequence[Trials]], default: Sequence[Trials], combine: str) -> np.ndarray:
    """(candidates,) one number each, over the problems: `measured[candidate][problem]`, and the same of the default.

    One problem: the mean of its trials. Several: the mean of each problem's mean relative to the default's (regret 0.8
    is four fifths of what the default loses), or the mean rank among these candidates.
    """
    means = np.array([[trials.mean() for trials in each] for each in measured], float)
    if means.shape[1] == 1:
        return means[:, 0]
    if combine == "rank":
        from scipy.stats import rankdata

        return np.asarray(rankdata(means, axis=0), float).mean(axis=1)
    return (means / scales(default)).mean(axis=1)


def scales(default: Sequence[Trials]) -> np.ndarray:
    """(problems,) what one unit is: the size of the default's mean."""
    return np.maximum(np.abs([trials.mean() for trials in default]), 1e-12)
