"""Adding up on the host, in float64, what the segments of a batch of trials measured: one column per metric."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from showdown.basics.errors import DivergedError, InvalidProblemError, ShowdownError, UsageError
from showdown.metrics import METRICS, per_checkpoint
from showdown.metrics.metric import Metric, Take
from showdown.play.segment import Played
from showdown.protocol.situation import ADVICE

CHECKPOINTS = 200  # points kept of each regret curve
LAST_STEPS = 500  # simple regret is the mean over this many final steps, as in the paper


class MetricError(ShowdownError):
    """A metric cannot be computed; without this the policy that was played would be blamed."""


def _taken(metric: Metric, take: Take, played: Played, shape: tuple[int, ...], meaning: str) -> np.ndarray:
    """What a metric takes from a segment; raises MetricError where that fails or has another shape."""
    try:
        values = np.asarray(take(played))
        if values.dtype != np.float32:  # which is converted where it is added up
            values = values.astype(np.float64)
    except Exception as error:  # whatever the code of a metric raises
        raise MetricError(f"the metric {metric.name!r} fails: {type(error).__name__}: {error}") from error
    if values.shape != shape:
        raise MetricError(f"the metric {metric.name!r} must give {meaning}, here {shape}, and gives {values.shape}")
    return values


def check_valid(first_step: int, valid: Any) -> None:
    """(trials, steps) whether all that the problem gave was finite."""
    if not valid.all():
        trial, step = np.argwhere(~valid)[0]
        raise InvalidProblemError(
            f"the problem gave a context or reward that is not finite at step {first_step + step} of trial {trial}"
        )


def divergence(steps: int, finite: Any) -> DivergedError | None:
    """The error of a policy whose state is not finite, (trials,), after so many steps."""
    lost = int((~finite).sum())
    if not lost:
        return None
    return DivergedError(f"the policy's state was not finite after step {steps} in {lost} of {len(finite)} trials")


class Decisions(NamedTuple):
    """Every decision of some trials, (trials, horizon) each."""

    actions: np.ndarray
    rewards: np.ndarray  # of the chosen actions
    propensities: np.ndarray  # the probability with which each was chosen

    @classmethod
    def empty(cls, trials: int, horizon: int) -> Decisions:
        shape = trials, horizon
        return cls(np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros(shape, np.float32))


class Accumulator:
    """What one batch of trials has earned and lost so far."""

    def __init__(self, trials: int, horizon: int, num_actions: int, *, keep: bool = False) -> None:
        """`keep` every decision, where its propensity is measured."""
        self.trials, self.horizon = trials, horizon
        self.steps = np.unique(np.ceil(np.linspace(0, horizon, CHECKPOINTS + 1)[1:]).astype(np.int64))
        self.tail = min(LAST_STEPS, horizon)
        self.metrics = [metric for metric in METRICS.values() if not metric.cell]
        self.measured = {column: np.zeros(trials) for metric in self.metrics for column in metric.steps}
        self.curves = {curve: np.zeros((trials, len(self.steps))) for curve in per_checkpoint()}
        self.fixed = {metric.name: np.zeros((trials, num_actions)) for metric in self.metrics if metric.fixed_step}
        self.action_counts = np.zeros((trials, num_actions), np.int64)
        self.decisions = Decisions.empty(trials, horizon) if keep else None

    def record(self, first_step: int, played: Played) -> int:
        """Check a segment, which is on the host by now, and add it; returns how many trial-steps that were.

        Raises InvalidProblemError or DivergedError where its numbers mean nothing.
        """
        steps = min(played.regret.shape[1], self.horizon - first_step)
        check_valid(first_step, played.valid[: self.trials, :steps])
        if error := divergence(first_step + steps, played.finite[: self.trials]):
            raise error
        return self.trials * self.add(first_step, played)

    def add(self, first_step: int, played: Played) -> int:
        """Add a segment; returns how many of its steps lie within the horizon."""
        steps = min(played.regret.shape[1], self.horizon - first_step)
        for metric in self.metrics:
            for column, take in metric.steps.items():
                values = _taken(metric, take, played, played.regret.shape, "(trials, steps)")
                self._add_steps(metric, column, first_step, values[: self.trials, :steps])
            if metric.fixed_step is not None:
                sums = _taken(metric, metric.fixed_step, played, played.action_rewards.shape, "(trials, actions)")
                self.fixed[metric.name] += sums[: self.trials]
        actions, num_actions = np.asarray(played.actions)[: self.trials, :steps], self.action_counts.shape[1]
        if actions.size and not 0 <= actions.min() <= actions.max() < num_actions:
            wrong = actions[(actions < 0) | (actions >= num_actions)][0]
            raise UsageError(f"the policy chose action {wrong} of a problem with {num_actions} actions")
        missing = np.isinf(np.asarray(played.expected_regret)[: self.trials, :steps])  # what `measure` says of it
        if missing.any():
            wrong = actions[missing][0]
            raise UsageError(f"the policy chose action {wrong} in a step where it is not available: {ADVICE}")
        places = num_actions * np.arange(self.trials)[:, None] + actions
        counts = np.bincount(places.ravel(), minlength=self.action_counts.size)
        self.action_counts += counts.reshape(self.action_counts.shape)
        if self.decisions is not None:
            taken = played.actions, played.reward, played.propensities
            for kept, values in zip(self.decisions, map(np.asarray, taken), strict=True):
                kept[:, first_step : first_step + steps] = values[: self.trials, :steps]
        return steps

    def _add_steps(self, metric: Metric, column: str, first_step: int, values: np.ndarray) -> None:
        """Add (trials, steps) values to one column of a metric, and to the curve of its running total."""
        total, steps = self.measured[column], values.shape[1]
        if metric.over == "mean":
            total += values.astype(np.float64).sum(axis=1) / self.horizon
        elif metric.over == "last":
            last = slice(max(0, self.horizon - self.tail - first_step), steps)
            total += values[:, last].astype(np.float64).sum(axis=1) / self.tail
        else:
            running = np.cumsum(values, axis=1, dtype=np.float64)
            inside = np.flatnonzero((self.steps > first_step) & (self.steps <= first_step + steps))
            for curve in (curve for curve, of in metric.curves.items() if of == column):
                self.curves[curve][:, inside] = total[:, None] + running[:, self.steps[inside] - first_step - 1]
            total += running[:, -1]

    def of_trials(self, trials: slice) -> Accumulator:
        """What some of the trials have earned and lost."""
        part = copy.copy(self)
        part.measured, part.curves, part.fixed = (
            {name: array[trials] for name, array in arrays.items()}
            for arrays in (self.measured, self.curves, self.fixed)
        )
        part.action_counts = self.action_counts[trials]
        part.trials = len(part.action_counts)
        part.decisions = self.decisions and Decisions(*(array[trials] for array in self.decisions))
        return part

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """(trials,) of every column of every metric, the best fixed action in hindsight included."""
        best = {metric.fixed_column: self._best_fixed(metric) for metric in self.metrics if metric.fixed_step}
        return {**self.measured, **best}

    def _best_fixed(self, metric: Metric) -> np.ndarray:
        sums = self.fixed[metric.name]
        best = sums.min(axis=1) if metric.smaller_is_better else sums.max(axis=1)
        return best / self.horizon if metric.over == "mean" else best
