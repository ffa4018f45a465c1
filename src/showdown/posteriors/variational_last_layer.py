"""A Gaussian belief about the last layer of a network with any covariance, and the bound that trains it.

For each output the coefficients are N(w̄, L Lᵀ) and the noise deviation σ is a number. With designs φ, the bound on the
log evidence of one row of output a, out of N rows in all, is

    log N(r | w̄_aᵀφ, σ_a²) − φᵀL_aL_aᵀφ / (2σ_a²) − [Σ KL(N(w̄, L Lᵀ) ‖ N(0, s²I)) − Σ ν·log σ⁻² − ½κ·σ⁻²] / N.

All of it in closed form: nothing is drawn in training.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

LEAST_NOISE = 1e-2  # σ, in root mean square rewards: an action that has always paid the same must stay in doubt


class Head(NamedTuple):
    mean: jax.Array  # (outputs, dim) w̄
    diagonal: jax.Array  # (outputs, dim) log of the diagonal of L
    lower: jax.Array  # (outputs, dim, dim) the rest of L; what is not below the diagonal is not used
    log_noise: jax.Array  # (outputs,) log σ


def start(outputs: int, dim: int, prior_deviation: jax.Array | float) -> Head:
    """The prior itself, with noise as large as rewards are."""
    diagonal = jnp.full((outputs, dim), jnp.log(jnp.asarray(prior_deviation, jnp.float32)))
    return Head(jnp.zeros((outputs, dim)), diagonal, jnp.zeros((outputs, dim, dim)), jnp.zeros(outputs))


def factor(head: Head) -> jax.Array:
    """L, (outputs, dim, dim)."""
    return jnp.tril(head.lower, -1) + jnp.exp(head.diagonal)[..., None] * jnp.eye(head.mean.shape[-1])


def noise_variance(head: Head) -> jax.Array:
    """σ², (outputs,)."""
    return _floored(head.log_noise)


@jax.custom_vjp
def _floored(log_noise: jax.Array) -> jax.Array:
    """σ², at least that of `LEAST_NOISE`. A loss can raise it from there: a plain maximum would never let it go."""
    return jnp.maximum(jnp.exp(2 * log_noise), LEAST_NOISE**2)


def _floored_forward(log_noise: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    variance = _floored(log_noise)
    return variance, (variance, log_noise < jnp.log(LEAST_NOISE))


def _floored_backward(saved: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array]:
    variance, below = saved
    return (jnp.where(below & (slope > 0), 0.0, slope * variance * 2),)  # slope of a loss, which training lowers


_floored.defvjp(_floored_forward, _floored_backward)


def divergence(head: Head, prior_variance: jax.Array | float) -> jax.Array:
    """KL of the belief from N(0, prior_variance·I), summed over outputs."""
    square = jnp.sum(head.mean**2) + jnp.sum(factor(head) ** 2)
    return 0.5 * (square / prior_variance - head.mean.size * (1 - jnp.log(prior_variance))) - jnp.sum(head.diagonal)


def fits(head: Head, designs: jax.Array, rewards: jax.Array) -> jax.Array:
    """The expected log density of each row's reward under each output, (rows, outputs)."""
    noise = noise_variance(head)
    error = rewards[:, None] - designs @ head.mean.T
    doubt = jnp.sum(jnp.einsum("bi,kij->bkj", designs, factor(head)) ** 2, axis=-1)
    return -0.5 * (jnp.log(2 * jnp.pi * noise) + (error**2 + doubt) / noise)


def noise_prior(head: Head, rate: jax.Array | float) -> jax.Array:
    """Σ ν·log σ⁻² − ½κ·σ⁻², κ = `rate` and ν = 1 + outputs/2, up to a constant the log of a Wishart prior."""
    noise = noise_variance(head)
    return jnp.sum(-(1 + len(noise) / 2) * jnp.log(noise) - 0.5 * rate / noise)
