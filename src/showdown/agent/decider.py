"""How an agent decides: the policy's draw at the agent's next step, and with what probability it falls how."""

from __future__ import annotations

import jax
import numpy as np

from showdown.agent import batch_programs, programs
from showdown.agent.batch_programs import ROOM
from showdown.agent.decision import Probabilities
from showdown.agent.learner import Learner
from showdown.agent.step_counter import StepCounter, as_int32
from showdown.basics.errors import DivergedError, UsageError
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import ADVICE, Situation


class Decider:
    """Called with the agent's lock held. Nothing here moves the clock: the agent does, once a decision is written."""

    most = ROOM  # decisions at once

    def __init__(self, policy: Policy, spec: ProblemSpec, key: jax.Array, learner: Learner) -> None:
        self._policy, self._spec, self._key, self._learner = policy, spec, key, learner
        self.clock = StepCounter(policy, spec)
        self.usable = True  # whether the state is finite; only a file can hold one that is not

    def act(self, context: np.ndarray, available: np.ndarray | None) -> int:
        self._check_usable()
        action = int(programs.act(*self._known, self._situation(context, available)))
        _check_available([action], [available])
        return action

    def act_many(self, contexts: np.ndarray) -> list[int]:
        self._check_usable()
        count = len(contexts)
        room = (1 << (count - 1).bit_length()) - count  # few sizes, so few programs
        padded = np.pad(contexts, ((0, room), (0, 0)))
        steps = np.pad(np.array([as_int32(step) for step in self.clock.steps(count)]), (0, room))
        actions = programs.act_many(*self._known, Situation.at(padded, steps, self._spec))
        return np.asarray(actions)[:count].tolist()

    def decide(
        self, contexts: list[np.ndarray], masks: list[np.ndarray | None], draws: int
    ) -> tuple[list[int], list[bool], list[Probabilities]]:
        """The actions for some contexts, at most `most` of them, whether several tied for it, and the laws."""
        self._check_usable()
        _check_draws(draws)
        count, spec = len(contexts), self._spec
        rows = np.zeros((ROOM, spec.context_dim), np.float32)
        available = np.ones((ROOM, spec.num_actions), bool)
        steps = np.zeros(ROOM, np.int32)
        rows[:count], steps[:count] = contexts, [as_int32(step) for step in self.clock.steps(count)]
        for place, mask in enumerate(masks):
            if mask is not None:
                available[place] = mask
        situations = Situation.at(rows, steps, spec, available)
        made = batch_programs.decide_rows(*self._known, situations, np.int32(count), draws=draws)
        actions, laws, drawn, tied = (np.asarray(part)[:count] for part in made)
        _check_available(actions.tolist(), masks)
        chances = [Probabilities.of(law, int(number)) for law, number in zip(laws, drawn, strict=True)]
        return actions.tolist(), tied.tolist(), chances

    def probabilities(self, context: np.ndarray, available: np.ndarray | None, draws: int) -> Probabilities:
        self._check_usable()
        _check_draws(draws)
        values, drawn = programs.probabilities(*self._known, self._situation(context, available), draws=draws)
        return Probabilities.of(np.asarray(values), int(drawn))

    def warm(self, draws: int, *, choose: bool) -> None:
        """Compile what decisions need; with `choose`, also what the calls without ids need."""
        context = np.zeros(self._spec.context_dim, np.float32)
        self.decide([context], [None], draws)
        for available in (None, np.ones(self._spec.num_actions, bool)) if choose else ():
            situation = Situation.at(context, np.int32(0), self._spec, available)
            jax.block_until_ready(programs.act(*self._known, situation))
            jax.block_until_ready(programs.probabilities(*self._known, situation, draws=draws))

    @property
    def _known(self) -> tuple[Policy, jax.Array, State]:
        return self._policy, self._key, self._learner.state

    def _situation(self, context: np.ndarray, available: np.ndarray | None) -> Situation:
        """What the next decision sees."""
        return Situation.at(context, as_int32(self.clock.step), self._spec, available)

    def _check_usable(self) -> None:
        if not self.usable:
            raise DivergedError(f"the policy's state was not finite after {self._learner.observations} observations")


def _check_available(actions: list[int], masks: list[np.ndarray | None]) -> None:
    for action, mask in zip(actions, masks, strict=True):
        if mask is not None and not mask[action]:
            raise UsageError(f"the policy chose action {action}, which is not available: {ADVICE}")


def _check_draws(draws: int) -> None:
    if type(draws) is not int or draws < 1:
        raise UsageError(f"draws must be a whole number of at least 1, not {draws!r}")
