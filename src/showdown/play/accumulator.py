"""Adding up on the host, in float64, what the segments of a batch of trials measured: one column per metric."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
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


@contextmanager
def _blamed(metric: Metric) -> Iterator[None]:
    """Turn whatever the code of a metric raises into a MetricError that names the metric."""
    try:
        yield
    except Exception as error:
        raise MetricError(f"the metric {metric.name!r} fails: {type(error).__name__}: {error}") from error


def _checked(metric: Metric, given: Any, shape: tuple[int, ...], meaning: str) -> np.ndarray:
    """The array that a metric gave; raises MetricError where it has another shape."""
    with _blamed(metric):
        values = np.asarray(given)
        if values.dtype != np.float32:  # which is converted where it is added up
            values = values.astype(np.float64)
    if values.shape != shape:
        raise MetricError(f"the metric {metric.name!r} must give {meaning}, here {shape}, and gives {values.shape}")
    return values


def _first_memory(metric: Metric, trials: int) -> np.ndarray:
    """What a metric with a memory remembers before the first step, a row per trial."""
    assert metric.memory is not None
    with _blamed(metric):
        memory = np.array(metric.memory(trials))  # a copy, which is written to
    if memory.shape[:1] != (trials,):
        raise MetricError(
            f"the memory of the metric {metric.name!r} must have a row per trial, here {trials}, "
            f"and its shape is {memory.shape}"
        )
    return memory


def check_valid(first_step: int, valid: Any) -> None:
    """Raise InvalidProblemError where what the problem gave was not finite; `valid` is (trials, steps)."""
    if not valid.all():
        trial, step = np.argwhere(~valid)[0]
        raise InvalidProblemError(
            f"the problem gave a number that is not finite, or no available action, at step {first_step + step} "
            f"of trial {trial}"
        )


def check_available(first_step: int, actions: Any, expected_regret: Any) -> None:
    """Raise UsageError where an action was chosen that was not available: its mean counts as minus infinity."""
    chosen = np.argwhere(np.isposinf(expected_regret))
    if len(chosen):
        trial, step = chosen[0]
        raise UsageError(
            f"the policy chose action {actions[trial, step]} at step {first_step + step}, which is not available: "
            f"{ADVICE}"
        )


def divergence(steps: int, finite: Any) -> DivergedError | None:
    """The error of a policy whose state is not finite after so many steps; None where it is. `finite` is (trials,)."""
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
        """`keep` says whether every decision is kept, with its propensity."""
        self.trials, self.horizon = trials, horizon
        self.steps = np.unique(np.ceil(np.linspace(0, horizon, CHECKPOINTS + 1)[1:]).astype(np.int64))
        self.tail = min(LAST_STEPS, horizon)
        self.metrics = [metric for metric in METRICS.values() if not metric.cell]
        self.measured = {column: np.zeros(trials) for metric in self.metrics for column in metric.steps}
        self.curves = {curve: np.zeros((trials, len(self.steps))) for curve in per_checkpoint()}
        self.fixed = {metric.name: np.zeros((trials, num_actions)) for metric in self.metrics if metric.fixed_step}
        self.memory = {
            column: _first_memory(metric, trials)
            for metric in self.metrics
            if metric.memory is not None
            for column in metric.steps
        }
        self.action_counts = np.zeros((trials, num_actions), np.int64)
        self.decisions = Decisions.empty(trials, horizon) if keep else None

    def record(self, first_step: int, played: Played) -> int:
        """Check a segment, which is on the host by now, and add it; returns how many trial-steps that were.

        Raises InvalidProblemError or DivergedError where its numbers mean nothing.
        """
        steps = min(played.regret.shape[1], self.horizon - first_step)
        check_valid(first_step, played.valid[: self.trials, :steps])
        check_available(first_step, played.actions, played.expected_regret[: self.trials, :steps])
        if error := divergence(first_step + steps, played.finite[: self.trials]):
            raise error
        return self.trials * self.add(first_step, played)

    def add(self, first_step: int, played: Played) -> int:
        """Add a segment; returns how many of its steps lie within the horizon."""
        if len(played.regret) > self.trials:  # a batch that was filled up
            played = jax.tree.map(lambda array: array[: self.trials], played)
        steps = min(played.regret.shape[1], self.horizon - first_step)
        for metric in self.metrics:
            for column, take in metric.steps.items():
                values = self._values(metric, column, take, played)
                self._add_steps(metric, column, first_step, values[:, :steps])
            if metric.fixed_step is not None:
                with _blamed(metric):
                    sums = metric.fixed_step(played)
                self.fixed[metric.name] += _checked(metric, sums, played.action_rewards.shape, "(trials, actions)")
        actions, num_actions = np.asarray(played.actions)[:, :steps], self.action_counts.shape[1]
        if actions.size and not 0 <= actions.min() <= actions.max() < num_actions:
            wrong = actions[(actions < 0) | (actions >= num_actions)][0]
            raise UsageError(f"the policy chose action {wrong} of a problem with {num_actions} actions")
        places = num_actions * np.arange(self.trials)[:, None] + actions
        counts = np.bincount(places.ravel(), minlength=self.action_counts.size)
        self.action_counts += counts.reshape(self.action_counts.shape)
        if self.decisions is not None:
            taken = played.actions, played.reward, played.propensities
            for kept, values in zip(self.decisions, map(np.asarray, taken), strict=True):
                kept[:, first_step : first_step + steps] = values[:, :steps]
        return steps

    def _values(self, metric: Metric, column: str, take: Take, played: Played) -> np.ndarray:
        """The (trials, steps) values of one column; a metric with a memory is given it, and its new one is kept."""
        if column not in self.memory:
            with _blamed(metric):
                values = take(played)
        else:
            memory = self.memory[column]
            with _blamed(metric):
                values, after = take(played, memory.copy())
                after = np.asarray(after)
                if after.shape != memory.shape:
                    raise ValueError(f"its memory had the shape {memory.shape} and has {after.shape} now")
                np.copyto(memory, after, casting="same_kind")
        return _checked(metric, values, played.regret.shape, "(trials, steps)")

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
        """What some of the trials have earned and lost, in the same arrays: adding to it adds to this one."""
        part = copy.copy(self)
        part.measured, part.curves, part.fixed, part.memory = (
            {name: array[trials] for name, array in arrays.items()}
            for arrays in (self.measured, self.curves, self.fixed, self.memory)
        )
        part.action_counts = self.action_counts[trials]
        part.trials = len(part.action_counts)
        part.decisions = self.decisions and Decisions(*(array[trials] for array in self.decisions))
        return part

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Every column of every metric, (trials,) each, the best fixed action in hindsight included."""
        best = {metric.fixed_column: self._best_fixed(metric) for metric in self.metrics if metric.fixed_step}
        return {**self.measured, **best}

    def _best_fixed(self, metric: Metric) -> np.ndarray:
        sums = self.fixed[metric.name]
        best = sums.min(axis=1) if metric.smaller_is_better else sums.max(axis=1)
        return best / self.horizon if metric.over == "mean" else best
