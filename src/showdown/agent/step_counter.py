"""Which step a decision is, for policies that look at it: warm-up pulls, and an ε that decays.

Without a history the steps are 0, 1, 2, … as in the simulator. Rows of a history count as steps too, and each of them
as a warm-up pull of its action, so that only what the history lacks is still played in turn.
"""

from __future__ import annotations

import numpy as np

from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec

LARGEST_STEP = (1 << 31) - 1  # that a compiled program can be given


def as_int32(step: int) -> np.int32:
    """A step as programs see it. After 2³¹ steps the last 2³⁰ come round again, so that keys go on changing."""
    return np.int32(step if step <= LARGEST_STEP else (step & (LARGEST_STEP >> 1)) | (1 << 30))


class StepCounter:
    def __init__(self, policy: Policy, spec: ProblemSpec) -> None:
        self._warm_up = policy.warm_up_steps(spec)
        self._num_actions = spec.num_actions
        self.decisions = 0  # made so far
        self.given = 0  # steps that were not decisions: rows of history, which others decided, and turns of new slots
        self.owed: list[int] | None = None  # warm-up steps still to play, where the history has changed them

    @property
    def is_warming_up(self) -> bool:
        return self.step < self._warm_up

    @property
    def step(self) -> int:
        """The step of the next decision."""
        return self.steps(1)[0]

    def steps(self, count: int) -> list[int]:
        """The steps of the next decisions."""
        first = self.decisions
        if self.owed is None:
            return list(range(first, first + count))
        owed = self.owed[:count]
        after = max(first + len(owed) + self.given, self._warm_up)
        return owed + list(range(after, after + count - len(owed)))

    def advance(self, count: int = 1) -> None:
        self.decisions += count
        if self.owed:
            del self.owed[:count]

    def resize(self, policy: Policy, spec: ProblemSpec) -> None:
        """Count for more actions from now on: turns that are still to play stay those of their actions."""
        before, self._num_actions = self._num_actions, spec.num_actions
        turns = self.owed if self.owed is not None else range(self.decisions, self._warm_up)
        if self.owed is not None or turns:
            self.owed = [turn // before * spec.num_actions + turn % before for turn in turns]
        self._warm_up = policy.warm_up_steps(spec)
        if self.owed is None and self.decisions < self._warm_up:  # the warm-up among fewer actions is over
            self.owed = []
        if self.owed is not None:  # so that steps after the larger warm-up go on being others each time
            self.given += max(0, self._warm_up - self.decisions - len(self.owed) - self.given)

    def owe(self, action: int) -> None:
        """Have an action that was added played in turn as often as the others were at first."""
        pulls = self._warm_up // self._num_actions
        if pulls:
            left = self.owed if self.owed is not None else range(self.decisions, self._warm_up)
            turns = [turn for turn in left if turn % self._num_actions != action]
            self.owed = sorted([*turns, *(number * self._num_actions + action for number in range(pulls))])

    def give(self, actions: np.ndarray) -> None:
        """Count the actions of a history."""
        left = np.bincount(actions, minlength=self._num_actions)
        turns = self.owed if self.owed is not None else range(self.decisions, self._warm_up)
        self.owed = []
        for turn in turns:
            action = turn % self._num_actions
            if left[action] > 0:
                left[action] -= 1
            else:
                self.owed.append(turn)
        self.given += len(actions)
