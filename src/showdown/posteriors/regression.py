"""Bayesian linear regression in square-root form: exact, O(d²) per observation, no factorisation and no inverse.

A bank of `num` independent regressions, one per action. Each keeps a root S of its covariance (Σ = S Sᵀ) and its mean μ
under a prior N(0, I/λ). For a design vector x and a target r with unit noise:

    φ = Sᵀx,  v = φᵀφ = xᵀΣx,  g = 1 + v,  K = Sφ,  e = r − xᵀμ
    μ ← μ + K e / g,   S ← S − K φᵀ / (g + √g),   and  e²/g  is added to twice the noise rate b.

Σ stays symmetric and positive by construction, so float32 holds over hundreds of thousands of steps. Known noise σ² is
the same recursion on x/σ and r/σ.

Products with one vector are written as a multiplication and a sum: full float32 on every device (a matrix unit would
round to TF32), and on the CPU up to twice as fast as a batched `dot`.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Regressions(NamedTuple):
    mean: jax.Array  # (num, dim)
    root: jax.Array  # (num, dim, dim)


class NoiseBelief(NamedTuple):
    """Inverse-gamma belief about each regression's noise variance."""

    shape: jax.Array  # (num,) a
    rate: jax.Array  # (num,) b


def prior(num: int, dim: int, prior_precision: jax.Array | float) -> Regressions:
    root = jnp.eye(dim) / jnp.sqrt(jnp.asarray(prior_precision, jnp.float32))
    return Regressions(jnp.zeros((num, dim)), jnp.tile(root, (num, 1, 1)))


def predict(regressions: Regressions, design: jax.Array) -> jax.Array:
    """The posterior mean of xᵀβ for every regression, (num,)."""
    return jnp.sum(regressions.mean * design, axis=-1)


def variance(regressions: Regressions, design: jax.Array) -> jax.Array:
    """v = xᵀΣx for every regression, (num,): the variance of xᵀβ under unit noise."""
    projected = jnp.sum(regressions.root * design[:, None], axis=-2)  # (num, dim)
    return jnp.sum(projected**2, axis=-1)


def absorb(
    regressions: Regressions, index: jax.Array, design: jax.Array, target: jax.Array
) -> tuple[Regressions, jax.Array]:
    """Add one observation of unit noise to regression `index`; also returns e²/g, the surprise it held."""
    root, mean = regressions.root[index], regressions.mean[index]
    projected = jnp.sum(root * design[:, None], axis=0)  # φ
    scale = 1 + jnp.sum(projected**2)  # g
    gain = jnp.sum(root * projected, axis=1)  # K
    error = target - jnp.sum(mean * design)  # e
    root_change = -jnp.outer(gain, projected) / (scale + jnp.sqrt(scale))
    updated = Regressions(
        regressions.mean.at[index].add(gain * error / scale), regressions.root.at[index].add(root_change)
    )
    return updated, error**2 / scale


def marginal_variances(regressions: Regressions, index: jax.Array) -> jax.Array:
    """diag Σ of one regression, (dim,)."""
    return jnp.sum(regressions.root[index] ** 2, axis=-1)


def student_t(key: jax.Array, degrees_of_freedom: jax.Array) -> jax.Array:
    """Exact Student-t draws from two uniforms, no rejection loop: √(ν(U^(−2/ν) − 1))·cos 2πV (Bailey 1994).

    `expm1` keeps the radius accurate for large ν, where it tends to Box and Muller's normal.
    """
    u, v = jax.random.uniform(key, (2, *jnp.shape(degrees_of_freedom)))
    radius = jnp.sqrt(degrees_of_freedom * jnp.expm1(-2 / degrees_of_freedom * jnp.log1p(-u)))
    return radius * jnp.cos(2 * jnp.pi * v)
