"""Thompson sampling with coefficients that all actions share and others of each action's own (hybrid linear).

The value of action a is zᵀβ + xᵀθ_a. z is [context, features of a, 1] and its β is learned from all rewards; x is what
`own` says and its θ_a is learned from the rewards of a. A new action so starts from what its features say, and departs
from it as it is played. Where actions have no features, β is what all actions have in common. The noise variance has
one inverse-gamma belief for all, and values are Student-t.

Reference: Li, Chu, Langford, Schapire, "A Contextual-Bandit Approach to Personalized News Article Recommendation", WWW
2010, section 3.2. Differences: Thompson sampling (`LinHybrid/UCB` decides by bounds, as there), an unknown noise
variance, and square roots instead of inverses, which is exact as well.

Cost per step O(num_actions·own_dim·(own_dim + shared_dim) + shared_dim²·num_actions), memory num_actions·own_dim·
(2·own_dim + shared_dim) + 2·shared_dim² floats per trial; no refit.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.config import config, log, param, positive
from showdown.policies.registry import policies
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import hybrid_regression as hybrid
from showdown.posteriors.hybrid_regression import Designs, HybridRegressions
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class HybridState(NamedTuple):
    regressions: HybridRegressions
    shape: jax.Array  # () a of the belief about the noise variance
    rate: jax.Array  # () b


@config
class HybridLinear(ValueThompson):
    """Shared coefficients, and some of each action's own."""

    reference = "Li et al. 2010, https://arxiv.org/abs/1003.0146"
    sees_action_features = True

    own: Literal["constant", "context", "all"] = param(
        "context", "what has coefficients for each action: a constant, the context too, or the features as well"
    )
    shared_precision: float = param(0.25, "λ of shared coefficients, β ~ N(0, σ²I/λ)", positive, log(1e-3, 1e3))
    own_precision: float = param(1.0, "λ of each action's own coefficients", positive, log(1e-3, 1e3))
    noise_shape: float = param(6.0, "a0: shape of the prior on the noise variance", positive, log(1e-2, 1e2))
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))

    def designs(self, situation: Situation) -> Designs:
        """z and x of every action."""
        inputs = jnp.broadcast_to(situation.inputs, (situation.num_actions, situation.spec.input_dim))
        ones = jnp.ones((situation.num_actions, 1))
        width = {"constant": 0, "context": situation.spec.context_dim, "all": situation.spec.input_dim}[self.own]
        shared, own = (jnp.concatenate([inputs[:, :columns], ones], axis=-1) for columns in (inputs.shape[1], width))
        return Designs(shared, own)

    def init(self, key: jax.Array, spec: ProblemSpec) -> HybridState:
        width = {"constant": 0, "context": spec.context_dim, "all": spec.input_dim}[self.own]
        start = hybrid.prior(spec.num_actions, spec.input_dim + 1, width + 1, self.shared_precision, self.own_precision)
        return HybridState(start, jnp.asarray(self.noise_shape, jnp.float32), jnp.asarray(self.noise_rate, jnp.float32))

    def values(self, state: HybridState, situation: Situation) -> Values:
        designs = self.designs(situation)
        mean = hybrid.predict(state.regressions, designs)
        own, shared = hybrid.deviations(state.regressions, designs)
        noise = state.rate / state.shape
        spread = jnp.sqrt(noise * (own**2 + jnp.sum(shared**2, axis=-1)))
        return Values(mean, spread, jnp.full_like(mean, 2 * state.shape), jnp.full_like(mean, noise))

    def scores(self, key: jax.Array, state: HybridState, situation: Situation) -> jax.Array:
        """One joint draw: what is shared is drawn once, and so is the noise variance."""
        designs = self.designs(situation)
        own, shared = hybrid.deviations(state.regressions, designs)
        common = jax.random.normal(role_key(key, "shared"), shared.shape[-1:])
        each = own * jax.random.normal(role_key(key, "own"), own.shape)
        deviation = jnp.sqrt(state.rate / jax.random.gamma(role_key(key, "noise"), state.shape))
        drawn = each + jnp.einsum("ki,i->k", shared, common, precision="highest")
        return hybrid.predict(state.regressions, designs) + deviation * drawn

    def probabilities(self, state: HybridState, situation: Situation) -> jax.Array | None:
        return None  # draws are correlated

    def update(
        self, key: jax.Array, state: HybridState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> HybridState:
        designs = self.designs(situation)
        regressions, surprise = hybrid.absorb(
            state.regressions, action, designs.shared[action], designs.own[action], reward
        )
        return HybridState(regressions, state.shape + 0.5, state.rate + surprise / 2)


policies.add("LinHybrid", WarmUp(inner=HybridLinear(), pulls=1))
