"""Bayesian linear regression per action whose prior and noise are those under which the rewards are most likely.

Coefficients are N(0, I/λ) and rewards have noise variance σ². Whenever the belief is rebuilt, both move towards the
maximum of the log evidence by MacKay's fixed point, from where they stood:

    γ = dim − λσ²·tr(ZᵀZ + λσ²I)⁻¹,   λ ← γ / ‖μ‖²,   σ² ← (residual sum of squares) / (n − γ),

with γ the number of coefficients that the data determine. `pooled` sums γ, ‖μ‖², residuals and n over actions, so that
all share λ and σ²; otherwise each action has its own. The eigenvalues of ZᵀZ are not needed: each round factors
ZᵀZ + λσ²I, as every belief does once. Values are Student-t with n degrees of freedom.

Evidence over-trusts features that were fitted to the same data, so λ and σ² have floors, in units of the mean squared
reward M²: σ² ≥ 1e-3·M² and λ ≥ 1e-3/M². No unit has to be set. Before the first rebuild σ² is M² and λσ² is 1.

References: MacKay, "Bayesian Interpolation", Neural Computation 1992; Daxberger et al., "Laplace Redux", NeurIPS 2021.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import LinearBelief, Values, log_student_t
from showdown.config import at_least, config, integers, param
from showdown.posteriors import moments as all_at_once
from showdown.posteriors import regression
from showdown.posteriors.moments import Moments

FLOOR, CEILING = 1e-3, 1e6  # of λM²; the floor also of σ²/M²
FIRST_RATIO = 1.0  # λσ² before anything was seen
TINY = 1e-30


class EvidenceState(NamedTuple):
    regressions: regression.Regressions  # under unit noise
    ratio: jax.Array  # (owners,) λσ²
    variance: jax.Array  # (owners,) σ²; 0 before the first rebuild
    rows: jax.Array  # (owners,) n
    square: jax.Array  # () sum of squared rewards


@config
class EvidenceLinear(LinearBelief):
    """Student-t values; prior precision and noise variance maximise the evidence."""

    reference = "Daxberger et al. 2021, https://arxiv.org/abs/2106.14806; MacKay 1992"

    pooled: bool = param(True, "one prior and one noise for all actions")
    rounds: int = param(3, "rounds of the fixed point at each rebuild", at_least(1), integers(1, 10), small=1)

    def init(self, owners: int, dim: int) -> EvidenceState:
        zeros = jnp.zeros(owners)
        start = regression.prior(owners, dim, FIRST_RATIO)
        return EvidenceState(start, zeros + FIRST_RATIO, zeros, zeros, jnp.float32(0.0))

    def noise(self, state: EvidenceState) -> jax.Array:
        """σ² of each owner, (owners,)."""
        return jnp.where(state.variance > 0, state.variance, state.square / jnp.maximum(state.rows.sum(), 1.0) + TINY)

    def values(self, state: EvidenceState, design: jax.Array) -> Values:
        noise = self.noise(state)
        spread = jnp.sqrt(noise * regression.variance(state.regressions, design))
        mean = regression.predict(state.regressions, design)
        freedom = jnp.maximum(state.rows, 2.0)
        return Values(mean, spread, *(jnp.broadcast_to(each, mean.shape) for each in (freedom, noise)))

    def directions(self, state: EvidenceState, designs: jax.Array) -> jax.Array:
        return regression.projections(state.regressions, designs)

    def observe(
        self, state: EvidenceState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[EvidenceState, jax.Array]:
        predicted = regression.predict_at(state.regressions, owner, design)
        square_scale = self.noise(state)[owner] * (1 + regression.variance_at(state.regressions, owner, design))
        evidence = log_student_t(reward, predicted, square_scale, jnp.maximum(state.rows[owner], 2.0))
        regressions, _ = regression.absorb(state.regressions, owner, design, reward)
        learned = state._replace(
            regressions=regressions, rows=state.rows.at[owner].add(1.0), square=state.square + reward**2
        )
        return learned, jnp.where(state.square > 0, evidence, 0.0)  # before the first reward there is no scale

    def precision(self, moments: Moments) -> None:
        return None  # depends on λσ², which `rebuild` finds

    def rebuild(self, state: EvidenceState, moments: Moments, root: jax.Array | None = None) -> EvidenceState:
        square = moments.square.sum() / jnp.maximum(moments.rows.sum(), 1.0) + TINY

        def one_round(_: int, found: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return self.improved(moments, found[0], square)

        start = state.ratio, jnp.zeros_like(state.variance)
        ratio, variance = jax.lax.fori_loop(0, self.rounds, one_round, start)
        regressions, _ = all_at_once.posterior(moments, ratio, 0.0, 0.0)
        return EvidenceState(regressions, ratio, variance, moments.rows, moments.square.sum())

    def improved(self, moments: Moments, ratio: jax.Array, square: jax.Array) -> tuple[jax.Array, jax.Array]:
        """λσ² and σ² of each owner after one round of the fixed point from λσ²; `square` is M²."""
        (mean, root), noise = all_at_once.posterior(moments, ratio, 0.0, 0.0)
        length = jnp.sum(mean**2, axis=-1)
        determined = mean.shape[-1] - ratio * jnp.sum(root**2, axis=(-2, -1))  # γ
        residual = 2 * noise.rate - ratio * length  # the rate has the prior's part in it
        sums = jnp.stack([determined, length, residual, moments.rows])
        if self.pooled:
            sums = jnp.broadcast_to(sums.sum(axis=1, keepdims=True), sums.shape)
        determined, length, residual, rows = jnp.maximum(sums, 0.0)
        variance = jnp.maximum(residual / jnp.maximum(rows - determined, 1.0), FLOOR * square)
        level = jnp.clip(determined / jnp.maximum(length / square, TINY), FLOOR, CEILING)  # λM²
        # an owner without rows of its own says nothing of either
        known = rows > 0
        return jnp.where(known, level / square * variance, FIRST_RATIO), jnp.where(known, variance, square)
