"""Bayesian linear regression in square-root form: exact, O(d²) per observation, no factorisation and no inverse.

A bank of `num` independent regressions, one per action. Each keeps a root R of its covariance (Σ = RᵀR) and its mean μ
under a prior N(0, I/λ). For a design vector x and a target r with unit noise:

    φ = Rx,  v = φᵀφ = xᵀΣx,  g = 1 + v,  K = Rᵀφ,  e = r − xᵀμ
    μ ← μ + K e / g,   R ← R − φ Kᵀ / (g + √g),   and  e²/g  is added to twice the noise rate b.

Σ stays symmetric and positive by construction. Known noise σ² is the same recursion on x/σ and r/σ.

Float32 holds over hundreds of thousands of steps where contexts span their space. Where they do not (one-hot columns
and an intercept), directions known from the prior alone keep entries of 1/√λ next to important ones of 1/√n, and
rounding of the former eats into the latter; `absorb_compensated` carries what rounding took and brings the error
back to 1e-5.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

TINY = 1e-30  # keeps a direction of length zero from dividing


class Regressions(NamedTuple):
    mean: jax.Array  # (num, dim)
    root: jax.Array  # (num, dim, dim) R


class NoiseBelief(NamedTuple):
    """Inverse-gamma belief about each regression's noise variance."""

    shape: jax.Array  # (num,) a
    rate: jax.Array  # (num,) b


def prior(num: int, dim: int, prior_precision: jax.Array | float) -> Regressions:
    root = jnp.eye(dim) / jnp.sqrt(jnp.asarray(prior_precision, jnp.float32))
    return Regressions(jnp.zeros((num, dim)), jnp.tile(root, (num, 1, 1)))


def predict(regressions: Regressions, design: jax.Array) -> jax.Array:
    """The posterior mean of xᵀβ for every regression, (num,), or of one regression for every design, (values,)."""
    return jnp.sum(regressions.mean * design, axis=-1)


def variance(regressions: Regressions, design: jax.Array) -> jax.Array:
    """v = xᵀΣx for every regression, (num,): the variance of xᵀβ under unit noise.

    One regression may have a design for each of several values, (values, dim): then (values,).
    """
    if design.ndim > 1:
        return jnp.sum(projections(regressions, design) ** 2, axis=-1)
    projected = jnp.einsum("kij,j->ki", regressions.root, design, precision="highest")  # φ
    return jnp.sum(projected**2, axis=-1)


def projections(regressions: Regressions, designs: jax.Array) -> jax.Array:
    """φ = Rx of the first regression for several designs, (values, dim); φᵀφ′ is the covariance of two values."""
    return jnp.einsum("ij,vj->vi", regressions.root[0], designs, precision="highest")


def variance_at(regressions: Regressions, index: jax.Array, design: jax.Array) -> jax.Array:
    """v of one regression, (); the roots of the others are not read."""
    return jnp.sum(jnp.einsum("ij,j->i", regressions.root[index], design, precision="highest") ** 2)


def predict_at(regressions: Regressions, index: jax.Array, design: jax.Array) -> jax.Array:
    """The posterior mean of xᵀβ for one regression, ()."""
    return jnp.sum(regressions.mean[index] * design)


def absorb(
    regressions: Regressions, index: jax.Array, design: jax.Array, target: jax.Array
) -> tuple[Regressions, jax.Array]:
    """Add one observation of unit noise to regression `index`; also returns e²/g, the surprise it held."""
    mean_change, root_change, surprise = _changes(regressions, index, design, target)
    updated = Regressions(regressions.mean.at[index].add(mean_change), regressions.root.at[index].add(root_change))
    return updated, surprise


def absorb_compensated(
    regressions: Regressions, lost: jax.Array, index: jax.Array, design: jax.Array, target: jax.Array
) -> tuple[Regressions, jax.Array, jax.Array]:
    """As `absorb`, with Kahan's sum for the root: `lost`, (num, dim, dim), is what rounding took from it so far."""
    mean_change, root_change, surprise = _changes(regressions, index, design, target)
    root = regressions.root[index]
    wanted = root_change - lost[index]
    reached = root + wanted
    taken = jax.lax.reduce_precision(reached - root, 8, 23)  # a compiler may not see through this and cancel the sum
    updated = Regressions(regressions.mean.at[index].add(mean_change), regressions.root.at[index].set(reached))
    return updated, lost.at[index].set(taken - wanted), surprise


def _changes(
    regressions: Regressions, index: jax.Array, design: jax.Array, target: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What one observation adds to the mean and the root of regression `index`, and its surprise."""
    root, mean = regressions.root[index], regressions.mean[index]
    projected = jnp.einsum("ij,j->i", root, design, precision="highest")  # φ
    scale = 1 + jnp.sum(projected**2)  # g
    gain = jnp.einsum("ij,i->j", root, projected, precision="highest")  # K
    error = target - jnp.sum(mean * design)  # e
    root_change = -jnp.outer(projected, gain) / (scale + jnp.sqrt(scale))
    return gain * error / scale, root_change, error**2 / scale


def marginal_variances(regressions: Regressions, index: jax.Array) -> jax.Array:
    """diag Σ of one regression, (dim,)."""
    return jnp.sum(regressions.root[index] ** 2, axis=-2)


def joint_student_t(key: jax.Array, directions: jax.Array, degrees_of_freedom: jax.Array) -> jax.Array:
    """Student-t draws of unit scale, correlated as the rows of `directions`, (values, dim), are: one joint draw.

    All have the degrees of freedom of the first; infinitely many make them normal.
    """
    unit = directions / jnp.maximum(jnp.linalg.norm(directions, axis=-1, keepdims=True), TINY)
    normal_key, scale_key = jax.random.split(key)
    normals = jnp.einsum("vi,i->v", unit, jax.random.normal(normal_key, directions.shape[-1:]), precision="highest")
    half = degrees_of_freedom[0] / 2
    known = jnp.isinf(half)
    drawn = jax.random.gamma(scale_key, jnp.where(known, 1.0, half)) / jnp.where(known, 1.0, half)
    return normals / jnp.sqrt(jnp.where(known, 1.0, drawn))


def student_t(key: jax.Array, degrees_of_freedom: jax.Array) -> jax.Array:
    """Exact Student-t draws from two uniforms, no rejection loop: √(ν(U^(−2/ν) − 1))·cos 2πV (Bailey 1994).

    `expm1` keeps the radius accurate for large ν, where it tends to Box and Muller's normal.
    """
    u, v = jax.random.uniform(key, (2, *jnp.shape(degrees_of_freedom)))
    radius = jnp.sqrt(degrees_of_freedom * jnp.expm1(-2 / degrees_of_freedom * jnp.log1p(-u)))
    return radius * jnp.cos(2 * jnp.pi * v)
