"""Numbers small enough to be sent: four significant digits, curves of sixty points, at most 200 trials."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from showdown.analysis.curves import mean_curve, thin

DIGITS = 4
TRIAL_DIGITS = 6  # two policies are compared trial by trial, and a small difference of large numbers needs them
POINTS = 60
MOST_TRIALS = 200
MOST_ACTIONS = 32


def number(value: Any, digits: int = DIGITS) -> float | int | None:
    """Rounded to significant digits; None where there is no finite number."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def numbers(values: Iterable[float], digits: int = DIGITS) -> list[float | int | None]:
    return [number(value, digits) for value in values]


def curve(checkpoints: list[int], trials: list[Any]) -> dict[str, Any]:
    """steps, mean and sem of a cell's regret curve; sem is None for a single trial."""
    thinned = thin(mean_curve(np.asarray(checkpoints), np.stack(trials)), POINTS)
    sem = None if len(trials) == 1 else numbers(thinned.sem)
    return {"steps": thinned.steps.tolist(), "mean": numbers(thinned.mean), "sem": sem}


def distribution(trials: np.ndarray) -> list[float | int | None]:
    """One value per trial in order of trials; evenly spaced quantiles where there are too many of them."""
    if len(trials) <= MOST_TRIALS:
        return numbers(trials, TRIAL_DIGITS)
    return numbers(np.quantile(trials, np.linspace(0, 1, MOST_TRIALS)))


def action_shares(counts: list[Any]) -> list[float | int | None]:
    """How often each action was played, in %; nothing where there are too many to draw."""
    total = np.sum(np.stack(counts), axis=0)
    return numbers(100 * total / max(1, total.sum())) if len(total) <= MOST_ACTIONS else []


def timeline(bins: dict[str, Any]) -> dict[str, list[float | int | None]]:
    """The share of decisions per belief, one number per doubling of steps."""
    return {name: numbers(values) for name, values in bins.items()}
