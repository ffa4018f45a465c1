"""Thompson sampling with any belief about any features: both are fields, so a new combination needs no new class.

A context becomes a design vector, every action's value is drawn from the belief, and the largest is played. Where the
features are refitted (a scale, a network), the belief is rebuilt from all of history.

`ScaleFree` is a linear belief whose priors are in units of the rewards seen, on contexts divided by one number: it
behaves the same whatever the units of rewards and contexts are. `ScaleFree-Duel` explores by duels. `ScaleFreeNetwork`
and `ScaleFreeNetwork-Duel` see the last layer of a network as well. They are the parts of the first `Council`, on their
own; `Tempered` and `TemperedNetwork` those of the second, and `NeuralLinear-Dropout` has the belief of NeuralLinear on
the same features. `Evidence` sets prior and noise of NeuralLinear by the evidence (docs/policies/evidence.md), on the
network of NeuralLinear, on one of Council's (`Evidence-Net`) or on the context alone (`Evidence-Linear`).

Reference: docs/policies/council.md.

Cost per step O(num_actions·dim²); per refit the features' own, one pass over history with 2·t·dim² operations for the
Gram matrices, and a factorisation per action; memory num_actions·dim² floats per trial.
"""

from __future__ import annotations

from typing import NamedTuple

import jax

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import Belief, BeliefState, LinearBelief, Values
from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.evidence import EvidenceLinear
from showdown.beliefs.features import Features, FeatureState, ScaledContexts
from showdown.beliefs.linear import StudentLinear
from showdown.beliefs.network_features import NetworkFeatures
from showdown.beliefs.scale_free import ScaleFreeLinear
from showdown.beliefs.side_by_side import SideBySide
from showdown.beliefs.tempered import TemperedLinear
from showdown.config import config, param, required
from showdown.policies.registry import policies
from showdown.policies.rules import UCB, BestMean
from showdown.policies.shared.refit_beliefs import View, refit
from showdown.policies.shared.rms_features import RMSFeatures
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import Duel, WarmUp
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work


class SamplingState(NamedTuple):
    features: FeatureState
    belief: BeliefState


@config
class BeliefSampling(ValueThompson):
    """Draw a value for each action from a belief about the features of the context; play the largest."""

    features: Features = param(required, "what the belief sees of a context")
    belief: Belief = param(required, "about the value of each action")

    sees_action_features = True  # beside the context; one set of coefficients then serves all actions

    @property
    def reference(self) -> str:
        return self.belief.reference

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        if self.features.refit_every and not isinstance(self.belief, LinearBelief):
            kind = type(self.belief).__name__
            raise UsageError(f"{kind} cannot be rebuilt from a history, as features that are refitted need it")

    def init(self, key: jax.Array, spec: ProblemSpec) -> SamplingState:
        start = self.belief.init(spec.num_outputs, self.features.dim(spec))
        return SamplingState(self.features.init(key, spec), start)

    def scores(self, key: jax.Array, state: SamplingState, situation: Situation) -> jax.Array:
        return self.belief.draw(key, state.belief, self.features.design(state.features, situation.inputs))

    def values(self, state: SamplingState, situation: Situation) -> Values:
        return self.belief.values(state.belief, self.features.design(state.features, situation.inputs))

    def update(
        self, key: jax.Array, state: SamplingState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> SamplingState:
        inputs = situation.inputs_of(action)
        features = self.features.observe(state.features, inputs, reward)
        design = self.features.design(features, inputs)
        return SamplingState(
            features, self.belief.observe(state.belief, design, situation.spec.owner(action), reward)[0]
        )

    def learned_features(self, state: SamplingState, inputs: jax.Array) -> jax.Array | None:
        return self.features.learned(state.features, inputs)

    def refit(self, key: jax.Array, state: SamplingState, history: History) -> SamplingState:
        assert isinstance(self.belief, LinearBelief)
        views = [View(self.belief, self.features.dim(history.spec))]
        features, (belief,) = refit(self.features, views, key, state.features, (state.belief,), history)
        return SamplingState(features, belief)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=1)


_policy: BeliefSampling
for _name, _policy in (
    ("ScaleFree", BeliefSampling(features=ScaledContexts(), belief=ScaleFreeLinear())),
    ("ScaleFreeNetwork", BeliefSampling(features=NetworkFeatures(), belief=ScaleFreeLinear(prior_precision=0.05))),
):
    policies.add(_name, WarmUp(inner=_policy))
    policies.add(f"{_name}-Duel", WarmUp(inner=Duel(inner=_policy)), base=_name)

for _name, _policy in (
    ("Tempered", BeliefSampling(features=ScaledContexts(), belief=TemperedLinear(prior_precision=0.01))),
    ("TemperedNetwork", BeliefSampling(features=SideBySide(), belief=TemperedLinear(prior_precision=0.05))),
    ("NeuralLinear-Dropout", BeliefSampling(features=SideBySide(), belief=StudentLinear(compensated=False))),
):
    policies.add(_name, WarmUp(inner=_policy))

_policy = BeliefSampling(features=RMSFeatures(), belief=EvidenceLinear())
policies.add("Evidence", WarmUp(inner=_policy))
policies.add("Evidence-Greedy", WarmUp(inner=BestMean(inner=_policy)), base="Evidence")
policies.add("Evidence-UCB", WarmUp(inner=UCB(inner=_policy)), base="Evidence")
for _suffix, _features in (("Net", DropoutFeatures()), ("Linear", ScaledContexts())):
    policies.add(
        f"Evidence-{_suffix}",
        WarmUp(inner=BeliefSampling(features=_features, belief=EvidenceLinear())),
        base="Evidence",
    )
