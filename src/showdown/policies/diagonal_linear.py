"""Thompson sampling with a diagonal linear regression per action, for contexts of thousands of numbers.

The diagonal versions of the linear family keep the exact mean, and so the whole covariance. This one keeps a mean and a
variance per coefficient and nothing else (`beliefs/diagonal.py`), which is what makes wide tables affordable.

Cost per step O(num_actions·dim), memory 2·num_actions·dim floats per trial; no refit.

Reference: assumed density filtering of a linear model, as in Crammer, Kulesza, Dredze, "Adaptive Regularization of
Weight Vectors", NeurIPS 2009 (its diagonal version, with a squared loss).
"""

from __future__ import annotations

import jax

from showdown.beliefs.belief import Values
from showdown.beliefs.diagonal import DiagonalLinear, DiagonalState
from showdown.beliefs.features import PlainContexts
from showdown.config import config, log, param, positive
from showdown.policies.registry import policies
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import EpsilonGreedy, WarmUp
from showdown.protocol.policy import Greedy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

OPERATIONS = 10  # per coefficient and step: a mean and a spread of every action, and the update of one


@config
class DiagonalThompson(ValueThompson):
    """A value of each action is drawn from a regression with independent coefficients; the largest is played."""

    reference = "Crammer, Kulesza, Dredze, NeurIPS 2009"
    sees_action_features = True  # one set of coefficients for [context, features, 1] then serves all actions

    prior_precision: float = param(0.25, "λ: a value ~ N(0, σ²/λ) before anything was seen", positive, log(1e-3, 1e3))
    noise_shape: float = param(6.0, "a0: shape of the prior on the noise variance", positive, log(1e-2, 1e2))
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))

    @property
    def belief(self) -> DiagonalLinear:
        return DiagonalLinear(
            prior_precision=self.prior_precision, noise_shape=self.noise_shape, noise_rate=self.noise_rate
        )

    def init(self, key: jax.Array, spec: ProblemSpec) -> DiagonalState:
        return self.belief.init(spec.num_outputs, spec.input_dim + 1)

    def scores(self, key: jax.Array, state: DiagonalState, situation: Situation) -> jax.Array:
        return self.belief.draw(key, state, _design(situation.inputs))

    def values(self, state: DiagonalState, situation: Situation) -> Values:
        return self.belief.values(state, _design(situation.inputs))

    def update(
        self, key: jax.Array, state: DiagonalState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> DiagonalState:
        design = _design(situation.inputs_of(action))
        return self.belief.observe(state, design, situation.spec.owner(action), reward)[0]

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return Work("linear", horizon, OPERATIONS * horizon * spec.num_actions * (spec.input_dim + 1))


@config
class DiagonalGreedy(DiagonalThompson, Greedy):
    """The action with the best mean; no exploration of its own."""

    def scores(self, key: jax.Array, state: DiagonalState, situation: Situation) -> jax.Array:
        return self.means(key, state, situation)

    probabilities = Greedy.probabilities


def _design(inputs: jax.Array) -> jax.Array:
    return PlainContexts().design(None, inputs)


policies.add("LinDiagFast", WarmUp(inner=DiagonalThompson()))
policies.add(
    "LinDiagFast-eps0.05",
    WarmUp(inner=EpsilonGreedy(inner=DiagonalGreedy(), epsilon=0.05)),
    base="LinDiagFast",
)
