"""Adding up on the host, in float64, what the segments of a batch of trials measured."""

from __future__ import annotations

import numpy as np

from showdown.errors import DivergedError, InvalidProblemError
from showdown.play.segment import Played

CHECKPOINTS = 200  # points kept of each regret curve
LAST_STEPS = 500  # simple regret is the mean over this many final steps, as in the paper


class Book:
    """What one batch of trials has earned and lost so far."""

    PER_TRIAL = (
        "cumulative",
        "cumulative_expected",
        "simple",
        "simple_expected",
        "curve",
        "curve_expected",
        "action_counts",
        "reward",
        "optimal",
        "action_rewards",
    )

    def __init__(self, trials: int, horizon: int, num_actions: int) -> None:
        self.trials, self.horizon, self.num_actions = trials, horizon, num_actions
        self.steps = np.unique(np.ceil(np.linspace(0, horizon, CHECKPOINTS + 1)[1:]).astype(np.int64))
        self.tail = min(LAST_STEPS, horizon)
        for name in ("cumulative", "cumulative_expected", "simple", "simple_expected"):
            setattr(self, name, np.zeros(trials))
        self.reward, self.optimal = np.zeros(trials), np.zeros(trials)
        self.curve = np.zeros((trials, len(self.steps)))
        self.curve_expected = np.zeros((trials, len(self.steps)))
        self.action_counts = np.zeros((trials, num_actions), np.int64)
        self.action_rewards = np.zeros((trials, num_actions))

    def record(self, first_step: int, played: Played) -> int:
        """Check a segment, which is on the host by now, and add it; returns how many trial-steps that were.

        Raises InvalidProblemError or DivergedError where its numbers mean nothing.
        """
        steps = min(played.regret.shape[1], self.horizon - first_step)
        bad = ~played.valid[: self.trials, :steps]
        if bad.any():
            trial, step = np.argwhere(bad)[0]
            raise InvalidProblemError(
                f"the problem gave a context or reward that is not finite at step {first_step + step} of trial {trial}"
            )
        lost = np.flatnonzero(~played.finite[: self.trials])
        if lost.size:
            raise DivergedError(
                f"the policy's state was not finite after step {first_step + steps} "
                f"in {lost.size} of {self.trials} trials"
            )
        return self.trials * self.add(first_step, played)

    def add(self, first_step: int, played: Played) -> int:
        """Add a segment; returns how many of its steps lie within the horizon."""
        steps = min(played.regret.shape[1], self.horizon - first_step)
        inside = np.flatnonzero((self.steps > first_step) & (self.steps <= first_step + steps))
        tail = slice(max(0, self.horizon - self.tail - first_step), steps)
        for regret, suffix in ((played.regret, ""), (played.expected_regret, "_expected")):
            paid = np.asarray(regret, np.float64)[: self.trials, :steps]
            total = getattr(self, "cumulative" + suffix)
            running = np.cumsum(paid, axis=1)
            getattr(self, "curve" + suffix)[:, inside] = (
                total[:, None] + running[:, self.steps[inside] - first_step - 1]
            )
            total += running[:, -1]
            getattr(self, "simple" + suffix)[:] += paid[:, tail].sum(axis=1) / self.tail
        self.reward += np.asarray(played.reward, np.float64)[: self.trials, :steps].sum(axis=1) / self.horizon
        best = np.asarray(played.expected_regret)[: self.trials, :steps] == 0
        self.optimal += best.sum(axis=1) / self.horizon
        self.action_rewards += np.asarray(played.action_rewards, np.float64)[: self.trials]
        actions = np.asarray(played.actions)[: self.trials, :steps]
        rows = np.repeat(np.arange(self.trials), steps)
        np.add.at(self.action_counts, (rows, actions.ravel()), 1)
        return steps
