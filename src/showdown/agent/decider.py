"""How an agent decides: the policy's draw at the agent's next step, and with what probability it falls how."""

from __future__ import annotations

import jax
import numpy as np

from showdown.agent import batch_programs, programs
from showdown.agent.decision import Probabilities
from showdown.agent.learner import Learner
from showdown.agent.offer import Offer, all_sizes
from showdown.agent.step_counter import StepCounter, as_int32
from showdown.basics.errors import DivergedError, UsageError
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import ADVICE, Situation


class Decider:
    """Called with the agent's lock held. Nothing here moves the clock: the agent does, once a decision is written."""

    def __init__(self, policy: Policy, spec: ProblemSpec, key: jax.Array, learner: Learner, *, has_slots: bool) -> None:
        self._policy, self._spec, self._key, self._learner = policy, spec, key, learner
        self._has_slots = has_slots
        self.clock = StepCounter(policy, spec)
        self.usable = True  # whether the state is finite; only a file can hold one that is not

    def resize(self, spec: ProblemSpec) -> None:
        """Decide among more actions from now on."""
        if spec != self._spec:
            self._spec = spec
            self.clock.resize(self._policy, spec)

    def act(self, context: np.ndarray, offer: Offer) -> int:
        self._check_usable()
        action = int(programs.act(*self._known, self._situation(context, offer)))
        _check_available([action], [offer])
        return action

    def act_many(self, contexts: np.ndarray, available: np.ndarray | None) -> list[int]:
        """The actions for some contexts, which have no features."""
        self._check_usable()
        count = len(contexts)
        room = (1 << (count - 1).bit_length()) - count  # few sizes, so few programs
        padded = np.pad(contexts, ((0, room), (0, 0)))
        steps = np.pad(np.array([as_int32(step) for step in self.clock.steps(count)]), (0, room))
        masks = None if available is None else np.tile(available, (len(padded), 1))
        actions = programs.act_many(*self._known, Situation.at(padded, steps, self._spec, masks))
        return np.asarray(actions)[:count].tolist()

    def places(self, offer: Offer) -> int:
        """How many places a decision has; only those with the same number are made together."""
        return self._spec.num_actions if offer.features is None else len(offer.features)

    def room(self, places: int) -> int:
        """How many decisions are made together."""
        return batch_programs.room_for(places, self._spec)

    def decide(
        self, contexts: list[np.ndarray], offers: list[Offer], draws: int
    ) -> tuple[list[int], list[bool], list[Probabilities]]:
        """The actions for some contexts, as many as there is room for, whether several tied for it, and the laws."""
        self._check_usable()
        _check_draws(draws)
        count, places = len(contexts), self.places(offers[0])
        spec, room = self._spec._replace(num_actions=places), self.room(places)
        rows = np.zeros((room, spec.context_dim), np.float32)
        available = np.ones((room, places), bool)
        steps = np.zeros(room, np.int32)
        rows[:count], steps[:count] = contexts, [as_int32(step) for step in self.clock.steps(count)]
        features = np.zeros((room, places, spec.action_dim), np.float32) if spec.action_dim else None
        for place, offer in enumerate(offers):
            if offer.available is not None:
                available[place] = offer.available
            if features is not None:
                features[place] = offer.features
        situations = Situation.at(rows, steps, spec, available, features)
        made = batch_programs.decide_rows(*self._known, situations, np.int32(count), draws=draws)
        actions, laws, drawn, tied = (np.asarray(part)[:count] for part in made)
        _check_available(actions.tolist(), offers)
        chances = [Probabilities.of(law, int(number)) for law, number in zip(laws, drawn, strict=True)]
        return actions.tolist(), tied.tolist(), chances

    def probabilities(self, context: np.ndarray, offer: Offer, draws: int) -> Probabilities:
        self._check_usable()
        _check_draws(draws)
        values, drawn = programs.probabilities(*self._known, self._situation(context, offer), draws=draws)
        return Probabilities.of(np.asarray(values), int(drawn))

    def warm(self, draws: int, *, choose: bool) -> None:
        """Compile what decisions need; with `choose`, also what the calls without ids need."""
        context = np.zeros(self._spec.context_dim, np.float32)
        for places in [self._spec.num_actions] if self._has_slots else all_sizes(self._spec.num_actions):
            features = np.zeros((places, self._spec.action_dim), np.float32) if self._spec.action_dim else None
            self.decide([context], [Offer(None, features)], draws)
            for available in (None, np.ones(places, bool)) if choose else ():
                situation = self._situation(context, Offer(available, features))
                jax.block_until_ready(programs.act(*self._known, situation))
                jax.block_until_ready(programs.probabilities(*self._known, situation, draws=draws))

    @property
    def _known(self) -> tuple[Policy, jax.Array, State]:
        return self._policy, self._key, self._learner.state

    def _situation(self, context: np.ndarray, offer: Offer) -> Situation:
        """What the next decision sees."""
        spec = self._spec._replace(num_actions=self.places(offer))
        return Situation.at(context, as_int32(self.clock.step), spec, offer.available, offer.features)

    def _check_usable(self) -> None:
        if not self.usable:
            raise DivergedError(f"the policy's state was not finite after {self._learner.observations} observations")


def _check_available(actions: list[int], offers: list[Offer]) -> None:
    for action, offer in zip(actions, offers, strict=True):
        if offer.available is not None and not offer.available[action]:
            raise UsageError(f"the policy chose action {action}, which is not available: {ADVICE}")


def _check_draws(draws: int) -> None:
    if type(draws) is not int or draws < 1:
        raise UsageError(f"draws must be a whole number of at least 1, not {draws!r}")
