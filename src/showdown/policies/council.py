"""One policy for people who do not want to choose: several beliefs over one history, the best predictor decides.

Each member holds a belief about part of a shared design vector: [last layer of a network, context, 1]. The two members
of `Council` are linear in the context and linear in all of it. All predict every reward before it is seen; the member
whose predictions were better (`beliefs/best_predictor.py`) decides, by Thompson sampling. All learn from every reward.
Nothing depends on the unit of rewards or contexts, and no constant depends on the problem.

`Tempered` and `TemperedNetwork` are its members on their own. `NeuralLinear-Dropout` has the belief of NeuralLinear on
the same features. They are in `belief_sampling.py`. The first edition, which decided by duels, is in
`first_council.py`.

Reference: docs/policies/council.md; docs/council.md says how the constants were chosen. The neural-linear member is
after Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Cost per step O(members·num_actions·dim²); per refit the network's training, one pass over history with 2·t·dim²
operations for the Gram matrices of all members together, and a factorisation per member and action; memory
members·num_actions·dim² floats per trial beside the network's.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import BeliefState
from showdown.beliefs.best_predictor import Contest
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.side_by_side import FAST, SideBySide
from showdown.beliefs.tempered import TemperedLinear
from showdown.config import config, linear, non_negative, param
from showdown.policies.registry import policies
from showdown.policies.shared.members import Member, Members
from showdown.policies.shared.timeline import Timeline
from showdown.policies.wrappers import WarmUp
from showdown.posteriors.probability_of_best import MOST, largest
from showdown.posteriors.regression import student_t
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class CouncilState(NamedTuple):
    features: FeatureState
    beliefs: tuple[BeliefState, ...]  # one per member
    contest: Contest
    timeline: Timeline


@config
class PredictorCouncil(Members):
    """Several beliefs over one history; the one that has predicted rewards better decides, by Thompson sampling."""

    features: Features = param(SideBySide(), "what members see of a context")
    members: tuple[Member, ...] = param(
        (
            Member(name="linear", sees="context", belief=TemperedLinear(prior_precision=0.01)),
            Member(name="network", sees="all", belief=TemperedLinear(prior_precision=0.05)),
        ),
        "who is asked",
    )
    spread: float = param(
        0.7, "of the draw between members, in deviations; 0 follows the best one", non_negative, linear(0.0, 2.0)
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> CouncilState:
        members = len(self.members)
        return CouncilState(*self.begin(key, spec), Contest.start(members), Timeline.start(members))

    def act(self, key: jax.Array, state: CouncilState, situation: Situation) -> jax.Array:
        """The best of one draw of every action's value by the member that decides; the others are not asked."""
        member = state.contest.draw(role_key(key, "member"), self.spread)
        draws_key, seen = role_key(key, "draws"), self.seen(state, situation.spec, situation.inputs)
        if situation.features is not None:  # all actions share coefficients, so a member draws them once
            draws = [partial(belief.draw, draws_key, held, design) for belief, held, design in seen]
            return situation.best(jax.lax.switch(member, draws))
        opinions = [partial(belief.values, held, design) for belief, held, design in seen]
        values = jax.lax.switch(member, opinions)
        return situation.best(values.mean + values.spread * student_t(draws_key, values.freedom))

    def probabilities(self, state: CouncilState, situation: Situation) -> jax.Array | None:
        """Each member's law, weighed by the probability that it decides."""
        if situation.num_actions > MOST or situation.features is not None:
            return None
        laws = [largest(*values.law, situation.mask) for values in self.values(state, situation)]
        return jnp.sum(state.contest.law(self.spread)[:, None] * jnp.stack(laws), axis=0)

    def update(
        self, key: jax.Array, state: CouncilState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> CouncilState:
        inputs, owner = situation.inputs_of(action), situation.spec.owner(action)
        state = state._replace(features=self.features.observe(state.features, inputs, reward))
        seen = self.seen(state, situation.spec, inputs)
        predicted = jnp.stack([belief.values(held, design).mean[owner] for belief, held, design in seen])
        errors = (predicted - reward) ** 2
        # `act` cannot keep its draw, so a second one from the same law stands for it in the timeline
        member = state.contest.draw(key, self.spread)
        return CouncilState(
            features=state.features,
            beliefs=tuple(belief.observe(held, design, owner, reward)[0] for belief, held, design in seen),
            contest=state.contest.observe(errors),
            timeline=state.timeline.continued(state.contest.seen, member, errors, reward),
        )

    def diagnostics(self, state: CouncilState) -> dict[str, jax.Array]:
        """Each member's share of decisions, and its squared error as a part of the mean squared reward."""
        return state.timeline.shares_and_errors([member.name for member in self.members])


policies.add("Council", WarmUp(inner=PredictorCouncil()))
policies.add("Council-fast", WarmUp(inner=PredictorCouncil(features=FAST)), base="Council")
