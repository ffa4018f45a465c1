"""One policy for people who do not want to choose: several beliefs over one history, weighed by how well they predict.

Each member holds a belief about part of a shared design vector: [last layers of networks, context, 1]. The two members
of `Council` are linear in the context and linear in all of it. All predict every reward before it is seen, and their
values are averaged with the weights that would have predicted best (`beliefs/stacking.py`); a Thompson draw from that
average decides. All learn from every reward. Nothing depends on the unit of rewards or contexts, and no constant
depends on the problem.

`Tempered` and `TemperedNetwork` are its members on their own. `NeuralLinear-Dropout` has the belief of NeuralLinear on
the same features. They are in `belief_sampling.py`. The first edition, which chose one member and decided by duels, is
in `first_council.py`.

Reference: docs/policies/council.md; docs/council.md says how the constants were chosen. The neural-linear member is
after Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Cost per step O(members·num_actions·dim²); per refit the network's training, one pass over history with 2·t·dim²
operations for the Gram matrices of all members together, and a factorisation per member and action; memory
members·num_actions·dim² floats per trial beside the network's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import BeliefState, Values
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.side_by_side import FAST, SideBySide
from showdown.beliefs.stacking import Stack
from showdown.beliefs.tempered import TemperedLinear
from showdown.config import config, param
from showdown.policies.registry import policies
from showdown.policies.shared.members import Member, Members
from showdown.policies.shared.timeline import Timeline
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.posteriors.regression import student_t
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class CouncilState(NamedTuple):
    features: FeatureState
    beliefs: tuple[BeliefState, ...]  # one per member
    stack: Stack
    timeline: Timeline


@config
class StackedCouncil(Members, ValueThompson):
    """Several beliefs over one history, weighed by how well they predict rewards; Thompson sampling from their mean."""

    features: Features = param(SideBySide(), "what members see of a context")
    members: tuple[Member, ...] = param(
        (
            Member(name="linear", sees="context", belief=TemperedLinear(prior_precision=0.01)),
            Member(name="network", sees="all", belief=TemperedLinear(prior_precision=0.05)),
        ),
        "who is asked",
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> CouncilState:
        members = len(self.members)
        return CouncilState(*self.begin(key, spec), Stack.start(members), Timeline.start(members))

    def values(self, state: CouncilState, situation: Situation) -> Values:
        """The weighted mean of the members' values.

        Spreads are averaged too, since all members learned from the same rewards and err together. Degrees of freedom
        are those of the member that has the fewest.
        """
        opinions, weights = self.opinions(state, situation), state.stack.weights()
        mean, spread, noise = (
            weighted(weights, part)
            for part in zip(*((one.mean, one.spread, one.noise) for one in opinions), strict=True)
        )
        return Values(mean, spread, jnp.stack([one.freedom for one in opinions]).min(axis=0), noise)

    def scores(self, key: jax.Array, state: CouncilState, situation: Situation) -> jax.Array:
        if situation.features is None:
            values = self.values(state, situation)
            return values.mean + values.spread * student_t(key, values.freedom)
        seen = self.seen(state, situation.spec, situation.inputs)  # all actions share coefficients: one draw of these
        return weighted(state.stack.weights(), [belief.draw(key, held, design) for belief, held, design in seen])

    def update(
        self, key: jax.Array, state: CouncilState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> CouncilState:
        inputs, owner = situation.inputs_of(action), situation.spec.owner(action)
        state = state._replace(features=self.features.observe(state.features, inputs, reward))
        seen = self.seen(state, situation.spec, inputs)
        predicted = jnp.stack([belief.values(held, design).mean[owner] for belief, held, design in seen])
        return CouncilState(
            features=state.features,
            beliefs=tuple(belief.observe(held, design, owner, reward)[0] for belief, held, design in seen),
            stack=state.stack.observe(predicted, reward),
            timeline=state.timeline.continued(
                state.stack.seen, state.stack.weights(), (predicted - reward) ** 2, reward
            ),
        )

    def diagnostics(self, state: CouncilState) -> dict[str, jax.Array]:
        """Each member's weight in decisions, and its squared error as a part of the mean squared reward."""
        return state.timeline.shares_and_errors([member.name for member in self.members])


def weighted(weights: jax.Array, parts: Sequence[Any]) -> jax.Array:
    """The weighted mean of arrays of one shape, one per member."""
    return jnp.sum(weights[:, None] * jnp.stack(parts), axis=0)  # a matrix product would be TF32 on a GPU


policies.add("Council", WarmUp(inner=StackedCouncil()))
policies.add("Council-fast", WarmUp(inner=StackedCouncil(features=FAST)), base="Council")
