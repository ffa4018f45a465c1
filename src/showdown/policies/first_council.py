"""The first edition of Council: beliefs chosen by what they earned where they disagreed, deciding by duels.

Kept for comparison with `council.py`, whose docstring says what a council is, and so that its cells stay readable. A
member is chosen by Thompson sampling (`beliefs/choice.py`), and the action by a duel on that member's values
(`policies/shared/duel.py`).

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
from showdown.history import History
from showdown.keys import role_key
from showdown.policies.registry import policies
from showdown.policies.shared.duel import duel, duel_among, duel_law
from showdown.policies.shared.member import Member, check_members, views_of
from showdown.policies.shared.refit_beliefs import View, refit
from showdown.policies.wrappers import WarmUp
from showdown.policy import Policy
from showdown.posteriors.largest import MOST, largest
from showdown.posteriors.regression import student_t
from showdown.problem import ProblemSpec

DOUBLINGS = 20  # parts of the timeline: part b holds the steps from 2^b to 2^(b+1) − 1, the last one all that follow


class CouncilState(NamedTuple):
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

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        check_members(self.members)

    def init(self, key: jax.Array, spec: ProblemSpec) -> CouncilState:
        views = self._views(self.features.dim(spec), spec.context_dim)
        return CouncilState(
            features=self.features.init(key, spec),
            beliefs=tuple(view.belief.init(spec.num_actions, view.width) for view in views),
            choice=self.choice.init(len(self.members)),
            chosen=jnp.zeros((DOUBLINGS, len(self.members))),
        )

    def act(self, key: jax.Array, state: CouncilState, context: jax.Array, step: jax.Array) -> jax.Array:
        mean, draws = self._draw(key, state, context)
        if not self.duels:
            return jnp.argmax(draws).astype(jnp.int32)
        return duel(role_key(key, "rival"), mean, draws)

    def act_among(
        self, key: jax.Array, state: CouncilState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array:
        mean, draws = self._draw(key, state, context)
        if not self.duels:
            return jnp.argmax(jnp.where(available, draws, -jnp.inf)).astype(jnp.int32)
        return duel_among(role_key(key, "rival"), mean, draws, available)

    def probabilities(
        self, state: CouncilState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array | None:
        """Each member's law, weighed by the probability that it decides."""
        if not self.duels and len(available) > MOST:
            return None
        values = self._values(state, context)
        laws = [duel_law(each, available) if self.duels else largest(*each, available) for each in values]
        return jnp.sum(self.choice.law(state.choice)[:, None] * jnp.stack(laws), axis=0)

    def _draw(self, key: jax.Array, state: CouncilState, context: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Means and draws of the member that decides."""
        values = self._values(state, context)
        member = self.choice.draw(role_key(key, "member"), state.choice)
        mean, spread, freedom = Values(*(jnp.stack(parts)[member] for parts in zip(*values, strict=True)))
        return mean, mean + spread * student_t(role_key(key, "draws"), freedom)

    def update(
        self, key: jax.Array, state: CouncilState, context: jax.Array, action: jax.Array, reward: jax.Array
    ) -> CouncilState:
        state = state._replace(features=self.features.observe(state.features, context, reward))
        leaders = jnp.stack([jnp.argmax(values.mean) for values in self._values(state, context)])
        design = self.features.design(state.features, context)
        learned = [
            view.belief.observe(belief, view.of(design), action, reward)
            for view, belief in zip(self._views(len(design), len(context)), state.beliefs, strict=True)
        ]
        evidence = jnp.stack([gained for _, gained in learned])
        choice = self.choice.observe(state.choice, evidence, leaders, action, reward)
        # `act` cannot keep its draw, so a second one from the same law stands for it in the timeline
        part = jnp.clip(jnp.floor(jnp.log2(choice.seen)).astype(jnp.int32), 0, DOUBLINGS - 1)
        return CouncilState(
            features=state.features,
            beliefs=tuple(belief for belief, _ in learned),
            choice=choice,
            chosen=state.chosen.at[part, self.choice.draw(key, choice)].add(1.0),
        )

    def refit(self, key: jax.Array, state: CouncilState, history: History) -> CouncilState:
        features, beliefs = refit(self.features, self._views, key, state.features, state.beliefs, history)
        return state._replace(features=features, beliefs=beliefs)

    def diagnostics(self, state: CouncilState) -> dict[str, jax.Array]:
        shares = state.chosen / jnp.maximum(state.chosen.sum(axis=-1, keepdims=True), 1.0)
        return {f"share of {member.name}": shares[:, number] for number, member in enumerate(self.members)}

    def _views(self, dim: int, context_dim: int) -> list[View]:
        return views_of(self.members, dim, context_dim)

    def _values(self, state: CouncilState, context: jax.Array) -> list[Values]:
        design = self.features.design(state.features, context)
        views = self._views(len(design), len(context))
        return [view.belief.moments(belief, view.of(design)) for view, belief in zip(views, state.beliefs, strict=True)]


policies.add("Council-1", WarmUp(inner=Council()))
policies.add(
    "Council-fast-1",
    WarmUp(inner=Council(features=NetworkFeatures(hidden_layers=(32, 32), batch_size=64))),
    base="Council-1",
)
