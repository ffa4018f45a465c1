"""An agent whose policy is plain Python: it learns and decides by calling the user's code.

What such a policy has learned is an object of the user's, which no file could hold safely. So the agent keeps every row
that it learned, and a file holds these: an agent that is loaded learns them again, in their order.
"""

from __future__ import annotations

import copy
import warnings
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import jax
import numpy as np

from showdown.agent.background import Observation
from showdown.agent.decider import Decider, _check_available, _check_draws
from showdown.agent.decision import Probabilities
from showdown.agent.learner import Learner, Tally
from showdown.agent.offer import Offer
from showdown.agent.replay_buffer import Bound
from showdown.agent.step_counter import as_int32
from showdown.basics.errors import UsageError
from showdown.plain.own_policy import stated_law
from showdown.policies.plain import PlainPolicy
from showdown.protocol.in_python import Player, generator, raised
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec

MOST_DRAWS = 200  # of a decision, for the propensity of a policy that states no law
AT_ONCE = 64  # decisions that are answered together


class PlainLearner(Learner):
    """Learns by calling `learn` of the user's code, and keeps the rows."""

    def __init__(
        self,
        policy: Policy,
        spec: ProblemSpec,
        key: jax.Array,
        bound: Bound,
        lock: AbstractContextManager,
        *,
        background: bool,
    ) -> None:
        if spec.action_dim:
            raise UsageError("an agent cannot hand features of actions to a policy in plain Python; `sd.run` can")
        if bound is not None:
            raise UsageError("a policy in plain Python forgets by itself or not at all: leave the history unbounded")
        super().__init__(policy, spec, key, bound, lock, background=False)  # nothing here is refitted
        self._warned = False

    @cached_property
    def player(self) -> Player:
        """The policy with what it has learned; where it was loaded, its random numbers are other ones than before."""
        assert isinstance(self.policy, PlainPolicy)
        words = np.append(np.asarray(jax.random.key_data(self.key)), np.uint32(self.observations & 0xFFFFFFFF))
        try:
            return self.policy.player(self.spec, generator(words))
        except Exception as error:
            raise raised(self.policy.name, "when it begins", error) from error

    def _update(self, seen: Observation) -> bool:
        """Whether it was learned: a row at which the user's code raises is counted, and warned of once."""
        assert isinstance(self.policy, PlainPolicy)
        try:
            self.player.learn(seen.inputs, int(seen.action), float(seen.reward))
        except Exception as error:
            self._count(refused_updates=1)
            if not self._warned:
                self._warned = True
                warnings.warn(str(raised(self.policy.name, "while it learns", error)), stacklevel=2)
            return False
        self.observations += 1
        return True

    def _learn_at_once(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> list[bool]:
        return [self.learn(*row) for row in zip(inputs, actions.tolist(), rewards, strict=True)]

    def _learn_part(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> None:
        self._learn_at_once(inputs, actions, rewards)

    def restore(self, state: State, observations: int, tally: Tally) -> None:
        super().restore(state, observations, tally)
        rows = self.history.rows()
        for place in range(rows.filled):
            row = rows.inputs[place], np.int32(rows.actions[place]), rows.rewards[place]
            self._update(Observation(*row, as_int32(place)))
        self.observations, self.tally = observations, tally

    def warm(self, rows: int, *, single: bool) -> None:
        """There is nothing to compile."""
        self.history.reserve(rows)
        _ = self.player


class PlainDecider(Decider):
    """Decides by calling `choose` of the user's code."""

    _learner: PlainLearner

    def act(self, context: np.ndarray, offer: Offer) -> int:
        return self._chosen(context, offer)

    def act_many(self, contexts: np.ndarray, available: np.ndarray | None) -> list[int]:
        return [self._chosen(context, Offer(available)) for context in contexts]

    def room(self, places: int) -> int:
        return AT_ONCE

    def decide(
        self, contexts: list[np.ndarray], offers: list[Offer], draws: int
    ) -> tuple[list[int], list[bool], list[Probabilities]]:
        _check_draws(draws)
        actions, laws = [], []
        for context, offer in zip(contexts, offers, strict=True):
            law = self._stated(context, offer)  # before it decides, which may be all that it needs to change
            actions.append(self._chosen(context, offer))
            laws.append(self._drawn(context, offer, draws) if law is None else law)
        return actions, [False] * len(actions), laws

    def probabilities(self, context: np.ndarray, offer: Offer, draws: int) -> Probabilities:
        _check_draws(draws)
        law = self._stated(context, offer)
        return self._drawn(context, offer, draws) if law is None else law

    def warm(self, draws: int, *, choose: bool) -> None:
        """There is nothing to compile."""

    def _called(self, function: Any, context: np.ndarray, offer: Offer) -> Any:
        seen = {} if offer.available is None else {"available": offer.available}
        if seen and not self._learner.player.takes_available:
            raise UsageError(f"{self._name} decides among all actions: let it take `available`")
        try:
            return function(context, **seen)
        except Exception as error:
            raise raised(self._name, "while it decides", error) from error

    @property
    def _name(self) -> str:
        assert isinstance(self._policy, PlainPolicy)
        return self._policy.name

    def _chosen(self, context: np.ndarray, offer: Offer) -> int:
        action = int(self._called(self._learner.player.choose, context, offer))
        if not 0 <= action < self._spec.num_actions:
            raise UsageError(f"{self._name} chose action {action}, and there are {self._spec.num_actions}, from 0 on")
        _check_available([action], [offer])
        return action

    def _stated(self, context: np.ndarray, offer: Offer) -> Probabilities | None:
        law = self._called(self._learner.player.probabilities, context, offer)
        return None if law is None else Probabilities.of(stated_law(self._name, law, self._spec.num_actions), 0)

    def _drawn(self, context: np.ndarray, offer: Offer, draws: int) -> Probabilities:
        """The shares of what a copy of the policy chooses, which leaves the policy and its random numbers alone."""
        count = min(draws, MOST_DRAWS)
        try:
            player = copy.deepcopy(self._learner.player)
        except Exception as error:
            raise UsageError(
                f"{self._name} does not say how probable its decisions are, and cannot be copied to find out "
                f"({error}): give it `probabilities`"
            ) from None
        chosen = [int(self._called(player.choose, context, offer)) for _ in range(count)]
        return Probabilities.of(np.bincount(chosen, minlength=self._spec.num_actions) / count, count)
