"""Bayesian linear regression that forgets: a reward seen n rewards ago counts γⁿ. Exact, O(dim²) per set, no solve.

With P the precision and f the sum of design times target, discounting multiplies both by γ: the mean stays, and the
root of the covariance is divided by √γ. That would discount the prior too, so it is given back: at step t coordinate
j = t mod dim gets an observation of 0 with weight λ(1 − γ^dim), a rank-one update as any other. The precision of the
prior in a coordinate so stays between λγ^dim and λ, and is λ when its turn has come. All is exact for that prior: the
posterior is that of weighted least squares (`tests/oracle/test_beliefs.py`). Where nothing is observed for long, a set
of coefficients falls back to the prior, and is explored again.

Rounding needs no compensation: what it does is forgotten as well.

Reference: Russac, Vernade, Cappé, "Weighted Linear Bandits for Non-Stationary Environments", NeurIPS 2019. Difference:
there the prior is given back in all coordinates at every step, which needs a factorisation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.beliefs.linear import Covariance, StudentLinear
from showdown.config import config, linear, param, strictly_between
from showdown.posteriors.moments import Moments
from showdown.posteriors.regression import NoiseBelief, Regressions


class DiscountedState(NamedTuple):
    """As `LinearState`, with the coordinate whose prior is given back next."""

    regressions: Regressions
    lost: Any  # None
    diagonal: Any  # None
    noise: NoiseBelief
    turn: jax.Array  # () int32


@config
class DiscountedLinear(StudentLinear):
    """A Student-t belief in which every reward makes all earlier ones, of all actions, count γ times as much."""

    covariance: Covariance = param("full", "what is sampled from")
    compensated: bool = param(False, "what rounding does is forgotten, and never compensated")
    discount: float = param(
        0.999, "γ: what the weight of the past is multiplied by", strictly_between(0, 1), linear(0.99, 0.9999)
    )

    def check(self) -> None:
        super().check()
        if self.covariance != "full" or self.compensated:
            raise UsageError("a discounted belief has the full covariance, and does not compensate rounding")

    def init(self, owners: int, dim: int) -> DiscountedState:
        start = super().init(owners, dim)
        return DiscountedState(start.regressions, None, None, start.noise, jnp.int32(0))

    def observe(
        self, state: DiscountedState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[DiscountedState, jax.Array]:
        return super().observe(self.faded(state), design, owner, reward)  # type: ignore[arg-type,return-value]

    def rebuild(self, state: DiscountedState, moments: Moments, root: jax.Array | None = None) -> DiscountedState:
        raise UsageError("a discounted belief cannot be rebuilt: the moments of a history do not say how old it is")

    def faded(self, state: DiscountedState) -> DiscountedState:
        """The state one reward later, before that is seen."""
        mean, root = state.regressions
        dim, kept = mean.shape[-1], jnp.float32(self.discount)
        root = root / jnp.sqrt(kept)
        weight = jnp.sqrt(self.prior_precision * (1 - kept**dim))
        projected = weight * root[:, :, state.turn]  # (owners, dim)
        scale = 1 + jnp.sum(projected**2, axis=-1)
        gain = jnp.einsum("kij,ki->kj", root, projected, precision="highest")
        error = -weight * mean[:, state.turn]
        root = root - projected[:, :, None] * (gain / (scale + jnp.sqrt(scale))[:, None])[:, None, :]
        shape = self.noise_shape + kept * (state.noise.shape - self.noise_shape)
        rate = self.noise_rate + kept * (state.noise.rate - self.noise_rate) + error**2 / scale / 2
        return DiscountedState(
            regressions=Regressions(mean + gain * (error / scale)[:, None], root),
            lost=None,
            diagonal=None,
            noise=NoiseBelief(shape, rate),
            turn=(state.turn + 1) % dim,
        )
