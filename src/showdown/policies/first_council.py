"""The first edition of Council: beliefs chosen by what they earned where they disagreed, deciding by duels.

Kept for comparison with `council.py`, whose docstring says what a council is, and so that its cells stay readable. A
member is chosen by Thompson sampling (`beliefs/choice.py`; who would have led is asked of all actions, whether they
were available or not), and the action by a duel on that member's values (`policies/shared/value_thompson.py`).

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

from showdown.beliefs.belief import BeliefState
from showdown.beliefs.choice import ChoiceState, EarnedChoice
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.network_features import NetworkFeatures
from showdown.beliefs.scale_free import ScaleFreeLinear
from showdown.config import config, param
from showdown.policies.registry import policies
from showdown.policies.shared.members import DOUBLINGS, Member, Members
from showdown.policies.shared.value_thompson import duel, duel_law
from showdown.policies.wrappers import WarmUp
from showdown.posteriors.probability_of_best import MOST, largest
from showdown.posteriors.regression import student_t
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class FirstCouncilState(NamedTuple):
    features: FeatureState
    beliefs: tuple[BeliefState, ...]  # one per member
    choice: ChoiceState
    chosen: jax.Array  # (DOUBLINGS, members) draws of each member by part of the timeline


@config
class Council(Members):
    """Several beliefs over one history; the one that earns more where they disagree decides, by a duel."""

    learns_from_all_offered = True  # whether beliefs disagreed about the best action

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

    def init(self, key: jax.Array, spec: ProblemSpec) -> FirstCouncilState:
        count = len(self.members)
        return FirstCouncilState(*self.begin(key, spec), self.choice.init(count), jnp.zeros((DOUBLINGS, count)))

    def act(self, key: jax.Array, state: FirstCouncilState, situation: Situation) -> jax.Array:
        values = self.opinions(state, situation)
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
        values = self.opinions(state, situation)
        laws = [duel_law(each, situation) if self.duels else largest(*each.law, situation.mask) for each in values]
        return jnp.sum(self.choice.law(state.choice)[:, None] * jnp.stack(laws), axis=0)

    def update(
        self, key: jax.Array, state: FirstCouncilState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> FirstCouncilState:
        inputs, owner = situation.inputs_of(action), situation.spec.owner(action)
        state = state._replace(features=self.features.observe(state.features, inputs, reward))
        leaders = jnp.stack([jnp.argmax(values.mean) for values in self.opinions(state, situation)])
        seen = self.seen(state, situation.spec, inputs)
        learned = [belief.observe(held, design, owner, reward) for belief, held, design in seen]
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

    def diagnostics(self, state: FirstCouncilState) -> dict[str, jax.Array]:
        shares = state.chosen / jnp.maximum(state.chosen.sum(axis=-1, keepdims=True), 1.0)
        return {f"share of {member.name}": shares[:, number] for number, member in enumerate(self.members)}

    def _joint_draws(self, key: jax.Array, state: FirstCouncilState, situation: Situation) -> jax.Array:
        """A draw by each member, (members, num_actions), where all actions share coefficients."""
        seen = self.seen(state, situation.spec, situation.inputs)
        return jnp.stack([belief.draw(key, held, design) for belief, held, design in seen])


policies.add("Council-1", WarmUp(inner=Council()))
policies.add(
    "Council-fast-1",
    WarmUp(inner=Council(features=NetworkFeatures(hidden_layers=(32, 32), batch_size=64))),
    base="Council-1",
)
