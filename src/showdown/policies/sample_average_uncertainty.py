"""SAU: a greedy network, and uncertainty that is counted: how wrong its predictions of each action have been.

With n_a pulls of action a and s_a = M² + Σ (reward − prediction before it was learned)², an action's value is

    N(f_a(x), s_a / n_a²):   the spread of a sample average, whatever the network is.

Two counters per action and no other cost. The spread does not depend on the context, so nothing tells a rare kind of
context from a common one. `SAU-UCB` plays the largest f_a + √(s_a·log(1 + k·t)) / n_a instead of the largest draw.

Reference: Zhu, Rigotti, "Deep Bandits Show-Off: Simple and Efficient Exploration with Deep Networks", NeurIPS 2021.

Differences from the paper and the released code
1. M² is the mean squared reward; there it is 1, in whatever unit rewards have.
2. Every action has two pulls at first. In the released code a misspelled name makes it so too, and action 0 gets one.
3. UCB has log(1 + k·t) where the paper has the log of the number of steps.
4. Released: RMSProp at 0.003, constant (0.01 for the wheel; with decay for jester): `SAU` takes 0.003 everywhere.

Cost per step O(weights); per refit training_steps·batch_size·weights·6 operations; memory two numbers per action.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import Values
from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.features import Features, FeatureState
from showdown.config import config, param
from showdown.policies.registry import policies
from showdown.policies.rules import UCB, BestMean
from showdown.policies.shared.rms_features import RMSFeatures
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work


@runtime_checkable
class Predicts(Protocol):
    """Features of a network that predicts rewards."""

    def predicted(self, state: FeatureState, inputs: jax.Array) -> jax.Array: ...


class SAUState(NamedTuple):
    features: FeatureState
    pulls: jax.Array  # (num_actions,) n
    errors: jax.Array  # (num_actions,) sum of squared prediction errors
    square: jax.Array  # () sum of squared rewards


@config
class SampleAverageUncertainty(ValueThompson):
    """A network's predictions, with the spread of a sample average of its errors."""

    reference = "Zhu, Rigotti 2021, https://arxiv.org/abs/2105.04683"

    features: Features = param(
        RMSFeatures(network=RMSNetwork(learning_rate=0.003, learning_rate_decay=0.0, batch_size=64, training_steps=10)),
        "the network",
    )

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        if not isinstance(self.features, Predicts):
            raise UsageError(f"SAU needs a network that predicts rewards, and {type(self.features).__name__} has none")

    def init(self, key: jax.Array, spec: ProblemSpec) -> SAUState:
        zeros = jnp.zeros(spec.num_actions)
        return SAUState(self.features.init(key, spec), zeros, zeros, jnp.float32(0.0))

    def predicted(self, state: SAUState, inputs: jax.Array) -> jax.Array:
        assert isinstance(self.features, Predicts)
        return self.features.predicted(state.features, inputs)

    def values(self, state: SAUState, situation: Situation) -> Values:
        mean, pulls = self.predicted(state, situation.inputs), jnp.maximum(state.pulls, 1.0)
        errors = state.square / jnp.maximum(state.pulls.sum(), 1.0) + state.errors  # s
        return Values(mean, jnp.sqrt(errors) / pulls, jnp.full_like(mean, jnp.inf), errors / pulls)

    def scores(self, key: jax.Array, state: SAUState, situation: Situation) -> jax.Array:
        mean, spread, _ = self.values(state, situation).law
        return mean + spread * jax.random.normal(key, mean.shape)

    def update(
        self, key: jax.Array, state: SAUState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> SAUState:
        state = state._replace(features=self.features.observe(state.features, situation.inputs, reward))
        error = (reward - self.predicted(state, situation.inputs)[action]) ** 2  # in the unit that is known by now
        return SAUState(
            state.features,
            state.pulls.at[action].add(1.0),
            state.errors.at[action].add(error),
            state.square + reward**2,
        )

    def refit(self, key: jax.Array, state: SAUState, history: History) -> SAUState:
        def redo() -> SAUState:
            return state._replace(features=self.features.refit(key, state.features, history))

        return jax.lax.cond(self.features.is_due(history), redo, lambda: state)

    def learned_features(self, state: SAUState, inputs: jax.Array) -> jax.Array | None:
        return self.features.learned(state.features, inputs)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=0)


_sau = SampleAverageUncertainty()
policies.add("SAU", WarmUp(inner=_sau, pulls=2))
policies.add("SAU-UCB", WarmUp(inner=UCB(inner=_sau, width=0.0, confidence=1.0), pulls=2), base="SAU")
policies.add("SAU-Greedy", WarmUp(inner=BestMean(inner=_sau), pulls=2), base="SAU")
policies.add("SAU-Net", WarmUp(inner=SampleAverageUncertainty(features=DropoutFeatures())), base="SAU")
