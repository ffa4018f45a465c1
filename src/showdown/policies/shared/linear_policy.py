"""What Thompson policies share whose belief is linear in the context and the features of an action."""

from __future__ import annotations

from abc import abstractmethod

import jax

from showdown.beliefs.belief import Values
from showdown.beliefs.features import PlainContexts
from showdown.beliefs.linear import ExactLinear, LinearState
from showdown.policies.registry import PAPER
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.posteriors.rounding import ROUNDING
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work, linear_work


class LinearPolicy(ValueThompson):
    """A linear belief about the context and a constant; its fields are the belief's, as the paper's rows name them."""

    reference = PAPER
    sees_action_features = True  # one set of coefficients for [context, features, 1] then serves all actions
    intercept: bool

    @property
    @abstractmethod
    def belief(self) -> ExactLinear:
        """The belief that these fields describe."""

    def design(self, inputs: jax.Array) -> jax.Array:
        return PlainContexts(intercept=self.intercept).design(None, inputs)

    def init(self, key: jax.Array, spec: ProblemSpec) -> LinearState:
        return self.belief.init(spec.num_outputs, spec.input_dim + self.intercept)

    def scores(self, key: jax.Array, state: LinearState, situation: Situation) -> jax.Array:
        return self.belief.draw(key, state, self.design(situation.inputs))

    def values(self, state: LinearState, situation: Situation) -> Values:
        return self.belief.values(state, self.design(situation.inputs))

    def update(
        self, key: jax.Array, state: LinearState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> LinearState:
        design = self.design(situation.inputs_of(action))
        return self.belief.observe(state, design, situation.spec.owner(action), reward)[0]

    def diagnostics(self, state: LinearState) -> dict[str, jax.Array]:
        return {ROUNDING: self.belief.rounding(state)}

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return linear_work(spec, horizon)
