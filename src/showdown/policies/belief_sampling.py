"""Thompson sampling with any belief about any features: both are fields, so a new combination needs no new class.

A context becomes a design vector, every action's value is drawn from the belief, and the largest is played. Where the
features are refitted (a scale, a network), the belief is rebuilt from all of history.

`ScaleFree` is a linear belief whose priors are in units of the rewards seen, on contexts divided by one number: it
behaves the same whatever the units of rewards and contexts are. `ScaleFree-Duel` explores by duels. `ScaleFreeNetwork`
and `ScaleFreeNetwork-Duel` see the last layer of a network as well. They are the parts of the first
edition of `Council`, on their own.

Reference: docs/policies/council.md.

Cost per step O(num_actions·dim²); per refit the features' own, one pass over history with 2·t·dim² operations for the
Gram matrices, and a factorisation per action; memory num_actions·dim² floats per trial.
"""

from __future__ import annotations

from typing import NamedTuple

import jax

from showdown.beliefs.belief import Belief, BeliefState, Values
from showdown.beliefs.features import Features, FeatureState, ScaledContexts
from showdown.beliefs.network_features import NetworkFeatures
from showdown.beliefs.scale_free import ScaleFreeLinear
from showdown.config import config, param, required
from showdown.history import History
from showdown.policies.registry import policies
from showdown.policies.shared.believed import Believed
from showdown.policies.shared.refit_beliefs import View, refit
from showdown.policies.wrappers import Duel, WarmUp
from showdown.problem import ProblemSpec


class SamplingState(NamedTuple):
    features: FeatureState
    belief: BeliefState


@config
class BeliefSampling(Believed):
    """Draw a value for each action from a belief about the features of the context; play the largest."""

    features: Features = param(required, "what the belief sees of a context")
    belief: Belief = param(required, "about the value of each action")

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def init(self, key: jax.Array, spec: ProblemSpec) -> SamplingState:
        start = self.belief.init(spec.num_actions, self.features.dim(spec))
        return SamplingState(self.features.init(key, spec), start)

    def scores(self, key: jax.Array, state: SamplingState, context: jax.Array) -> jax.Array:
        return self.belief.draw(key, state.belief, self.features.design(state.features, context))

    def values(self, state: SamplingState, context: jax.Array) -> Values:
        return self.belief.moments(state.belief, self.features.design(state.features, context))

    def update(
        self, key: jax.Array, state: SamplingState, context: jax.Array, action: jax.Array, reward: jax.Array
    ) -> SamplingState:
        features = self.features.observe(state.features, context, reward)
        design = self.features.design(features, context)
        return SamplingState(features, self.belief.observe(state.belief, design, action, reward)[0])

    def refit(self, key: jax.Array, state: SamplingState, history: History) -> SamplingState:
        def views(dim: int, context_dim: int) -> list[View]:
            return [View(self.belief, dim)]

        features, (belief,) = refit(self.features, views, key, state.features, (state.belief,), history)
        return SamplingState(features, belief)


for _name, _features, _belief in (
    ("ScaleFree", ScaledContexts(), ScaleFreeLinear()),
    ("ScaleFreeNetwork", NetworkFeatures(), ScaleFreeLinear(prior_precision=0.05)),
):
    _policy = BeliefSampling(features=_features, belief=_belief)
    policies.add(_name, WarmUp(inner=_policy))
    policies.add(f"{_name}-Duel", WarmUp(inner=Duel(inner=_policy)), base=_name)
