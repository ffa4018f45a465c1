"""Bayesian linear regression that keeps a mean and a variance per coefficient and no covariances: O(dim) per reward.

Assumed density filtering: after each reward the exact posterior of one more observation has correlated coefficients; it
is replaced by the Gaussian with the same mean and the same variance of each coefficient, and independent ones. For a
design vector x, a target r and noise in units of its own variance:

    v = Σ_j s_j x_j²,  g = 1 + v,  e = r − xᵀμ,    μ_j ← μ_j + s_j x_j e / g,    s_j ← s_j − (s_j x_j)² / g,

and e²/g is added to twice the noise rate b, as in `posteriors/regression.py`. With one coefficient this is exact. With
many, what is forgotten is that they explain the same reward: the mean depends on the order of rewards.

The prior is about the value, not the coefficients: whatever the width, xᵀβ has the prior variance noise/λ where the
numbers of x have a mean square of 1. A prior per coefficient would make a table of 1,500 columns all exploration.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Belief, Values, log_student_t
from showdown.config import config, log, param, positive
from showdown.posteriors.regression import NoiseBelief, joint_student_t


class DiagonalState(NamedTuple):
    mean: jax.Array  # (owners, dim) μ
    variance: jax.Array  # (owners, dim) s, in units of the noise variance
    noise: NoiseBelief


@config
class DiagonalLinear(Belief):
    """Independent coefficients per action and an inverse-gamma belief about the noise: values are Student-t."""

    prior_precision: float = param(0.25, "λ: a value ~ N(0, σ²/λ) before anything was seen", positive, log(1e-3, 1e3))
    noise_shape: float = param(6.0, "a0: shape of the prior on the noise variance", positive, log(1e-2, 1e2))
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))

    def init(self, owners: int, dim: int) -> DiagonalState:
        ones = jnp.ones(owners)
        start = jnp.full((owners, dim), 1 / (self.prior_precision * dim), jnp.float32)
        return DiagonalState(
            jnp.zeros((owners, dim)), start, NoiseBelief(self.noise_shape * ones, self.noise_rate * ones)
        )

    def values(self, state: DiagonalState, design: jax.Array) -> Values:
        shape, rate = state.noise
        mean = jnp.sum(state.mean * design, axis=-1)
        spread = jnp.sqrt(rate / shape * jnp.sum(state.variance * design**2, axis=-1))
        return Values(mean, spread, *(jnp.broadcast_to(each, mean.shape) for each in (2 * shape, rate / shape)))

    def draw(self, key: jax.Array, state: DiagonalState, design: jax.Array) -> jax.Array:
        """One draw of every action's value; where all share coefficients, correlated as such values are."""
        if design.ndim == 1:
            return super().draw(key, state, design)
        values = self.values(state, design)
        directions = jnp.sqrt(state.variance) * design
        return values.mean + values.spread * joint_student_t(key, directions, values.freedom)

    def observe(
        self, state: DiagonalState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[DiagonalState, jax.Array]:
        shape, rate = state.noise
        mean, variance = state.mean[owner], state.variance[owner]
        gain = variance * design  # s x
        scale = 1 + jnp.sum(gain * design)  # g
        predicted = jnp.sum(mean * design)
        error = reward - predicted
        evidence = log_student_t(reward, predicted, rate[owner] / shape[owner] * scale, 2 * shape[owner])
        noise = NoiseBelief(shape.at[owner].add(0.5), rate.at[owner].add(error**2 / scale / 2))
        # never below s/g, which rounding would make 0 of where one large number of x explains all: it would never learn
        narrower = jnp.maximum(variance - gain**2 / scale, variance / scale)
        learned = DiagonalState(
            state.mean.at[owner].add(gain * error / scale), state.variance.at[owner].set(narrower), noise
        )
        return learned, evidence
