"""The first edition of Council: beliefs chosen by what they earned where they disagreed, deciding by duels.

Kept for comparison with `council.py`, whose docstring says what a council is, and so that its cells stay readable. A
member is chosen by Thompson sampling (`beliefs/choice.py`), and the action by a duel on that member's values
(`policies/shared/value_thompson.py`).

Reference: docs/policies/council.md. The neural-linear member is after Riquelme, Tucker, Snoek, "Deep Bayesian Bandits
Showdown", ICLR 2018.

Cost per step O(members·num_actions·dim²); per refit the network's training, one pass over history with 2·t·dim²
operations for the Gram matrices of all members together, and a factorisation per member and action; memory
members·num_actions·dim² floats per trial beside the network's.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import BeliefState, Values
from showdown.beliefs.choice import ChoiceState, EarnedChoice
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.network_features import NetworkFeatures
from showdown.beliefs.scale_free import ScaleFreeLinear
from showdown.config import config, param
from showdown.policies.registry import policies
from showdown.policies.shared.member import Member, check_members, views_of
from showdown.policies.shared.refit_beliefs import View, refit
from showdown.policies.shared.value_thompson import duel, duel_law
from showdown.policies.wrappers import WarmUp
from showdown.posteriors.probability_of_best import MOST, largest
from showdown.posteriors.regression import student_t
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

DOUBLINGS = 20  # parts of the timeline: part b holds the steps from 2^b to 2^(b+1) − 1, the last one all that follow


class FirstCouncilState(NamedTuple):
    features: FeatureState
    beliefs: tuple[BeliefState, ...]  # one per member
    choice: ChoiceState
    chosen: jax.Array  # (DOUBLINGS, members) draws of each member by part of the timeline


@config
class Council(Policy):
    """Several beliefs over one history; the one that earns more where they disagree decides, by a duel."""

    features: Features = param(NetworkFeatures(), "what members see of a context")
    members: tuple[Member, ...] = param(
        (
            Member(name="linear", sees="context", belief=ScaleFreeLinear(prior_precision=0.01)),
            Member(name="network", sees="all", belief=ScaleFreeLinear(prior_precision=0.05)),
        ),
        "who is asked",
    )
    choice: EarnedChoice = param(EarnedChoice(), "between members")
    duels: bool = param(True, "decide by duels; false is Thompson sampling")

    sees_action_features = True  # beside the context; one set of coefficients then serves all actions

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        check_members(self.members)

    def init(self, key: jax.Array, spec: ProblemSpec) -> FirstCouncilState:
        return FirstCouncilState(
            features=self.features.init(key, spec),
            beliefs=tuple(view.belief.init(spec.num_outputs, view.width) for view in self._views(spec)),
            choice=self.choice.init(len(self.members)),
            chosen=jnp.zeros((DOUBLINGS, len(self.members))),
        )

    def act(self, key: jax.Array, state: FirstCouncilState, situation: Situation) -> jax.Array:
        values = self._values(state, situation)
        member = self.choice.draw(role_key(key, "member"), state.choice)
        mean, spread, freedom = (jnp.stack(parts)[member] for parts in zip(*(each.law for each in values), strict=True))
        if situation.features is None:
            draws = mean + spread * student_t(role_key(key, "draws"), freedom)
        else:
            draws = self._joint_draws(role_key(key, "draws"), state, situation)[member]
        return duel(role_key(key, "rival"), situation, mean, draws) if self.duels else situation.best(draws)

    def probabilities(self, state: FirstCouncilState, situation: Situation) -> jax.Array | None:
        """Each member's law, weighed by the probability that it decides."""
        if situation.features is not None or (not self.duels and situation.num_actions > MOST):
            return None
        values = self._values(state, situation)
        laws = [duel_law(each, situation) if self.duels else largest(*each.law, situation.mask) for each in values]
        return jnp.sum(self.choice.law(state.choice)[:, None] * jnp.stack(laws), axis=0)

    def update(
        self, key: jax.Array, state: FirstCouncilState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> FirstCouncilState:
        inputs, owner = situation.inputs_of(action), situation.spec.owner(action)
        state = state._replace(features=self.features.observe(state.features, inputs, reward))
        leaders = jnp.stack([jnp.argmax(values.mean) for values in self._values(state, situation)])
        design = self.features.design(state.features, inputs)
        learned = [
            view.belief.observe(belief, view.of(design), owner, reward)
            for view, belief in zip(self._views(situation.spec), state.beliefs, strict=True)
        ]
        evidence = jnp.stack([gained for _, gained in learned])
        choice = self.choice.observe(state.choice, evidence, leaders, action, reward)
        # `act` cannot keep its draw, so a second one from the same law stands for it in the timeline
        part = jnp.clip(jnp.floor(jnp.log2(choice.seen)).astype(jnp.int32), 0, DOUBLINGS - 1)
        return FirstCouncilState(
            features=state.features,
            beliefs=tuple(belief for belief, _ in learned),
            choice=choice,
            chosen=state.chosen.at[part, self.choice.draw(key, choice)].add(1.0),
        )

    def learned_features(self, state: FirstCouncilState, inputs: jax.Array) -> jax.Array | None:
        return self.features.learned(state.features, inputs)

    def refit(self, key: jax.Array, state: FirstCouncilState, history: History) -> FirstCouncilState:
        views = self._views(history.spec)
        features, beliefs = refit(self.features, views, key, state.features, state.beliefs, history)
        return state._replace(features=features, beliefs=beliefs)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=len(self.members))

    def diagnostics(self, state: FirstCouncilState) -> dict[str, jax.Array]:
        shares = state.chosen / jnp.maximum(state.chosen.sum(axis=-1, keepdims=True), 1.0)
        return {f"share of {member.name}": shares[:, number] for number, member in enumerate(self.members)}

    def _views(self, spec: ProblemSpec) -> list[View]:
        return views_of(self.members, self.features, spec)

    def _joint_draws(self, key: jax.Array, state: FirstCouncilState, situation: Situation) -> jax.Array:
        """A draw by each member, (members, num_actions), where all actions share coefficients."""
        design = self.features.design(state.features, situation.inputs)
        views = zip(self._views(situation.spec), state.beliefs, strict=True)
        return jnp.stack([view.belief.draw(key, belief, view.of(design)) for view, belief in views])

    def _values(self, state: FirstCouncilState, situation: Situation) -> list[Values]:
        design = self.features.design(state.features, situation.inputs)
        views = zip(self._views(situation.spec), state.beliefs, strict=True)
        return [view.belief.values(belief, view.of(design)) for view, belief in views]


policies.add("Council-1", WarmUp(inner=Council()))
policies.add(
    "Council-fast-1",
    WarmUp(inner=Council(features=NetworkFeatures(hidden_layers=(32, 32), batch_size=64))),
    base="Council-1",
)
