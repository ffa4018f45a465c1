"""Exact Bayesian linear regression per action, with known or unknown noise, and its diagonal approximations.

Given the noise, the value xᵀβ of a design vector x is Gaussian; with an inverse-gamma belief about the noise variance
integrated out it is exactly Student-t, so no vector is ever sampled. The diagonal versions keep the exact mean and
approximate only the covariance that values are drawn from: `diagonal` takes diag(Σ), `precision-diagonal` 1/diag(Σ⁻¹).

Cost per step O(num_actions·dim²), memory num_actions·dim² floats, twice that where rounding is compensated.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import LinearBelief, Values, log_normal, log_student_t
from showdown.config import config, log, param, positive
from showdown.posteriors import moments as all_at_once
from showdown.posteriors import regression
from showdown.posteriors.moments import Moments
from showdown.posteriors.rounding import posterior_precisions, rounding_error

Covariance = Literal["full", "diagonal", "precision-diagonal"]


class LinearState(NamedTuple):
    regressions: regression.Regressions
    lost: Any  # (owners, dim, dim) what rounding took from the roots, None where it is not compensated
    diagonal: Any  # (owners, dim) diag Σ or diag Σ⁻¹ for the diagonal versions, None for the full one
    noise: Any  # a NoiseBelief where the noise is unknown, None where it is known


class ExactLinear(LinearBelief):
    """What known and unknown noise share."""

    covariance: Covariance
    prior_precision: float
    compensated: bool

    def init(self, owners: int, dim: int) -> LinearState:
        start = {"full": None, "diagonal": 1 / self.prior_precision, "precision-diagonal": self.prior_precision}
        level = start[self.covariance]
        regressions = regression.prior(owners, dim, self.prior_precision)
        return LinearState(
            regressions=regressions,
            lost=jnp.zeros_like(regressions.root) if self.compensated else None,
            diagonal=None if level is None else jnp.full((owners, dim), level, jnp.float32),
            noise=None,
        )

    def sampling_variance(self, state: LinearState, design: jax.Array) -> jax.Array:
        """Variance of xᵀβ for each action under unit noise, from the covariance this version samples with."""
        if self.covariance == "full":
            return regression.variance(state.regressions, design)
        diagonal = state.diagonal if self.covariance == "diagonal" else 1 / state.diagonal
        return jnp.sum(diagonal * design**2, axis=-1)

    def directions(self, state: LinearState, designs: jax.Array) -> jax.Array:
        if self.covariance == "full":
            return regression.projections(state.regressions, designs)
        return jnp.sqrt(state.diagonal if self.covariance == "diagonal" else 1 / state.diagonal) * designs

    def absorb(
        self, state: LinearState, owner: jax.Array, design: jax.Array, target: jax.Array
    ) -> tuple[LinearState, jax.Array]:
        """Add one observation of unit noise; also returns the surprise it held (see `posteriors/regression.py`)."""
        if self.compensated:
            regressions, lost, surprise = regression.absorb_compensated(
                state.regressions, state.lost, owner, design, target
            )
        else:
            lost = None
            regressions, surprise = regression.absorb(state.regressions, owner, design, target)
        diagonal = state.diagonal
        if self.covariance == "diagonal":
            diagonal = diagonal.at[owner].set(regression.marginal_variances(regressions, owner))
        elif self.covariance == "precision-diagonal":
            diagonal = diagonal.at[owner].add(design**2)
        return state._replace(regressions=regressions, lost=lost, diagonal=diagonal), surprise

    @abstractmethod
    def noise_and_count(self, state: LinearState, owner: jax.Array, precisions: jax.Array) -> tuple[Any, jax.Array]:
        """The variance of the noise in units of the regressions', and how many rewards one owner has seen."""

    def rounding(self, state: LinearState) -> jax.Array:
        """How far float32 may have moved the mean of the owner that is known best, in standard deviations, ()."""
        mean, root = state.regressions
        owner = jnp.argmin(jnp.sum(root**2, axis=(-2, -1)))
        precisions = posterior_precisions(root[owner])
        return rounding_error(mean[owner], precisions, *self.noise_and_count(state, owner, precisions))

    def replaced(
        self, state: LinearState, regressions: regression.Regressions, gram: jax.Array, noise: Any
    ) -> LinearState:
        """The state with regressions that were computed from all data, whose Gram matrices are `gram`."""
        diagonal = None
        if self.covariance == "diagonal":
            diagonal = jnp.sum(regressions.root**2, axis=-2)
        elif self.covariance == "precision-diagonal":
            diagonal = self.prior_precision + jnp.diagonal(gram, axis1=-2, axis2=-1)
        lost = jnp.zeros_like(regressions.root) if self.compensated else None
        return LinearState(regressions, lost, diagonal, noise)


@config
class GaussianLinear(ExactLinear):
    """The noise variance is known; the value of an action is Gaussian."""

    covariance: Covariance = param("full", "what is sampled from: Σ, diag(Σ) or 1/diag(Σ⁻¹)")
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, I/λ)", positive, log(1e-3, 1e3))
    noise_variance: float = param(0.25, "σ²: known variance of rewards", positive, log(1e-3, 1e2))
    compensated: bool = param(True, "carry along what float32 rounding takes from the covariance's root")

    def values(self, state: LinearState, design: jax.Array) -> Values:
        mean = regression.predict(state.regressions, design)
        spread, noise = jnp.sqrt(self.sampling_variance(state, design)), jnp.full_like(mean, self.noise_variance)
        return Values(mean, spread, jnp.full_like(mean, jnp.inf), noise)

    def draw(self, key: jax.Array, state: LinearState, design: jax.Array) -> jax.Array:
        if design.ndim > 1:
            return super().draw(key, state, design)
        mean, spread, _ = self.values(state, design).law
        return mean + spread * jax.random.normal(key, mean.shape)

    def observe(
        self, state: LinearState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[LinearState, jax.Array]:
        predicted = regression.predict_at(state.regressions, owner, design)
        variance = self.noise_variance + regression.variance_at(state.regressions, owner, design)
        deviation = jnp.sqrt(self.noise_variance)
        state, _ = self.absorb(state, owner, design / deviation, reward / deviation)
        return state, log_normal(reward, predicted, variance)

    def noise_and_count(self, state: LinearState, owner: jax.Array, precisions: jax.Array) -> tuple[Any, jax.Array]:
        """Rewards are not counted, but the last number of a design is 1: its precision is λ + n/σ²."""
        return 1.0, (precisions[-1] - self.prior_precision) * self.noise_variance

    def precision(self, moments: Moments) -> jax.Array:
        return moments.gram / self.noise_variance + self.prior_precision * jnp.eye(moments.gram.shape[-1])

    def rebuild(self, state: LinearState, moments: Moments, root: jax.Array | None = None) -> LinearState:
        gram, cross = moments.gram / self.noise_variance, moments.cross / self.noise_variance
        scaled = moments._replace(gram=gram, cross=cross, square=moments.square / self.noise_variance)
        regressions, _ = all_at_once.posterior(scaled, self.prior_precision, 1.0, 1.0, root)
        return self.replaced(state, regressions, gram, None)


@config
class StudentLinear(ExactLinear):
    """The noise variance has an inverse-gamma belief per action; the value of an action is Student-t."""

    covariance: Covariance = param("full", "what is sampled from: σ²Σ, σ²diag(Σ) or σ²/diag(Σ⁻¹)")
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, σ²I/λ)", positive, log(1e-3, 1e3))
    noise_shape: float = param(6.0, "a0: shape of the prior on the noise variance", positive, log(1e-2, 1e2))
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))
    compensated: bool = param(True, "carry along what float32 rounding takes from the covariance's root")

    def init(self, owners: int, dim: int) -> LinearState:
        ones = jnp.ones(owners)
        noise = regression.NoiseBelief(self.noise_shape * ones, self.noise_rate * ones)
        return super().init(owners, dim)._replace(noise=noise)

    def values(self, state: LinearState, design: jax.Array) -> Values:
        shape, rate = state.noise
        spread = jnp.sqrt(rate / shape * self.sampling_variance(state, design))
        mean = regression.predict(state.regressions, design)
        return Values(mean, spread, *(jnp.broadcast_to(each, mean.shape) for each in (2 * shape, rate / shape)))

    def observe(
        self, state: LinearState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[LinearState, jax.Array]:
        shape, rate = state.noise
        predicted = regression.predict_at(state.regressions, owner, design)
        square_scale = rate[owner] / shape[owner] * (1 + regression.variance_at(state.regressions, owner, design))
        evidence = log_student_t(reward, predicted, square_scale, 2 * shape[owner])
        state, surprise = self.absorb(state, owner, design, reward)
        noise = regression.NoiseBelief(shape.at[owner].add(0.5), rate.at[owner].add(surprise / 2))
        return state._replace(noise=noise), evidence

    def noise_and_count(self, state: LinearState, owner: jax.Array, precisions: jax.Array) -> tuple[Any, jax.Array]:
        shape, rate = state.noise.shape[owner], state.noise.rate[owner]
        return rate / shape, 2 * (shape - self.noise_shape)

    def is_blind(self, state: LinearState) -> jax.Array:
        """Whether rewards were seen and all designs were 0, so that no coefficient is known better than before, ()."""
        variances, dim = jnp.sum(state.regressions.root**2, axis=(-2, -1)), state.regressions.mean.shape[-1]
        unchanged = (variances > 0.999 * dim / self.prior_precision).all()
        return unchanged & (state.noise.shape > self.noise_shape + 0.25).any()

    def precision(self, moments: Moments) -> jax.Array:
        return moments.gram + self.prior_precision * jnp.eye(moments.gram.shape[-1])

    def rebuild(self, state: LinearState, moments: Moments, root: jax.Array | None = None) -> LinearState:
        regressions, noise = all_at_once.posterior(
            moments, self.prior_precision, self.noise_shape, self.noise_rate, root
        )
        return self.replaced(state, regressions, moments.gram, noise)
