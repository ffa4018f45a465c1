"""How an agent decides: the policy's draw at the agent's next step, and with what probability it falls how."""

from __future__ import annotations

import jax
import numpy as np

from showdown.agent import programs
from showdown.agent.learner import Learner
from showdown.agent.propensity import Probabilities
from showdown.agent.step_counter import StepCounter
from showdown.basics.errors import DivergedError, UsageError
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec


class Decider:
    """With the agent's lock held, as all that belongs to it."""

    def __init__(self, policy: Policy, spec: ProblemSpec, key: jax.Array, learner: Learner) -> None:
        self._policy, self._spec, self._key, self._learner = policy, spec, key, learner
        self.clock = StepCounter(policy, spec.num_actions)
        self.usable = True  # whether the state is finite; only a file can hold one that is not

    def act(self, context: np.ndarray, available: np.ndarray | None) -> int:
        self._check_usable()
        known = self._policy, self._key, self._learner.state, context, np.int32(self.clock.step)
        action = int(programs.act(*known) if available is None else programs.act_among(*known, available))
        self.clock.advance()
        return action

    def act_many(self, contexts: np.ndarray) -> list[int]:
        self._check_usable()
        count = len(contexts)
        room = (1 << (count - 1).bit_length()) - count  # few sizes, so few programs
        padded = np.pad(contexts, ((0, room), (0, 0)))
        steps = np.pad(np.array(self.clock.steps(count), np.int32), (0, room))
        known = self._policy, self._key, self._learner.state, padded, steps
        actions = programs.act_many(*known, num_actions=self._spec.num_actions)
        self.clock.advance(count)
        return np.asarray(actions)[:count].tolist()

    def probabilities(self, context: np.ndarray, available: np.ndarray | None, draws: int) -> Probabilities:
        self._check_usable()
        if type(draws) is not int or draws < 1:
            raise UsageError(f"draws must be a whole number of at least 1, not {draws!r}")
        mask = np.ones(self._spec.num_actions, bool) if available is None else available
        known = self._policy, self._key, self._learner.state, context, np.int32(self.clock.step)
        values, drawn = programs.probabilities(*known, mask, draws=draws)
        return Probabilities.of(np.asarray(values), int(drawn))

    def warm(self, draws: int) -> None:
        """Compile what single decisions need."""
        context, mask = np.zeros(self._spec.context_dim, np.float32), np.ones(self._spec.num_actions, bool)
        known = self._policy, self._key, self._learner.state, context, np.int32(0)
        jax.block_until_ready((programs.act(*known), programs.act_among(*known, mask)))
        jax.block_until_ready(programs.probabilities(*known, mask, draws=draws))

    def _check_usable(self) -> None:
        if not self.usable:
            raise DivergedError(f"the policy's state was not finite after {self._learner.observations} observations")
