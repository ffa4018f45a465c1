"""How an agent decides: the policy's draw at the agent's next step, and with what probability it falls how."""

from __future__ import annotations

import jax
import numpy as np

from showdown.agent import programs
from showdown.agent.learner import Learner
from showdown.agent.propensity import Probabilities
from showdown.agent.step_counter import StepCounter
from showdown.basics.errors import DivergedError, UsageError
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import ADVICE, Situation


class Decider:
    """With the agent's lock held, as all that belongs to it."""

    def __init__(self, policy: Policy, spec: ProblemSpec, key: jax.Array, learner: Learner) -> None:
        self._policy, self._spec, self._key, self._learner = policy, spec, key, learner
        self.clock = StepCounter(policy, spec)
        self.usable = True  # whether the state is finite; only a file can hold one that is not

    def act(self, context: np.ndarray, available: np.ndarray | None) -> int:
        self._check_usable()
        action = int(programs.act(*self._known, self._situation(context, available)))
        if available is not None and not available[action]:
            raise UsageError(f"the policy chose action {action}, which is not available: {ADVICE}")
        self.clock.advance()
        return action

    def act_many(self, contexts: np.ndarray) -> list[int]:
        self._check_usable()
        count = len(contexts)
        room = (1 << (count - 1).bit_length()) - count  # few sizes, so few programs
        padded = np.pad(contexts, ((0, room), (0, 0)))
        steps = np.pad(np.array(self.clock.steps(count), np.int32), (0, room))
        actions = programs.act_many(*self._known, Situation.at(padded, steps, self._spec))
        self.clock.advance(count)
        return np.asarray(actions)[:count].tolist()

    def probabilities(self, context: np.ndarray, available: np.ndarray | None, draws: int) -> Probabilities:
        self._check_usable()
        if type(draws) is not int or draws < 1:
            raise UsageError(f"draws must be a whole number of at least 1, not {draws!r}")
        values, drawn = programs.probabilities(*self._known, self._situation(context, available), draws=draws)
        return Probabilities.of(np.asarray(values), int(drawn))

    def warm(self, draws: int) -> None:
        """Compile what single decisions need."""
        context = np.zeros(self._spec.context_dim, np.float32)
        for available in (None, np.ones(self._spec.num_actions, bool)):
            situation = Situation.at(context, np.int32(0), self._spec, available)
            jax.block_until_ready(programs.act(*self._known, situation))
            jax.block_until_ready(programs.probabilities(*self._known, situation, draws=draws))

    @property
    def _known(self) -> tuple[Policy, jax.Array, State]:
        return self._policy, self._key, self._learner.state

    def _situation(self, context: np.ndarray, available: np.ndarray | None) -> Situation:
        """What the next decision sees."""
        return Situation.at(context, np.int32(self.clock.step), self._spec, available)

    def _check_usable(self) -> None:
        if not self.usable:
            raise DivergedError(f"the policy's state was not finite after {self._learner.observations} observations")
