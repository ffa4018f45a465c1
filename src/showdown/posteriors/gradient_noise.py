"""Stochastic gradient descent as a sampler: steps whose stationary law is the posterior exp(−N L).

L is the mean loss over N points with Hessian A, g a mini-batch gradient with covariance diag(v). The walk
θ ← θ − h g + noise has stationary covariance (N A)⁻¹ when, per coordinate,

    constant SGD:            h = 2 / (N v), no added noise                          (Mandt, Hoffman, Blei 2016)
    Fisher scoring, step ε:  h = ε·2 / (N (1 + ε) v), noise of variance h² v / ε    (Ahn, Korattikara, Welling 2012)

v is an exponentially weighted variance of the gradients met, divided by 2ρ/(1 + ρ) to remove the bias of its short
memory (ρ is the decay). Where v vanishes (dead units) h is unbounded, so it is capped.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors.draws import normals_like
from showdown.posteriors.training import Parameters


class GradientMoments(NamedTuple):
    mean: Parameters  # exponentially weighted mean of gradients
    spread: Parameters  # exponentially weighted variance, biased low
    seen: jax.Array  # () how many gradients


def start(parameters: Parameters) -> GradientMoments:
    mean, spread = (jax.tree.map(jnp.zeros_like, parameters) for _ in range(2))  # two: buffers may be donated
    return GradientMoments(mean, spread, jnp.int32(0))


def observe(moments: GradientMoments, gradient: Parameters, decay: jax.Array | float) -> GradientMoments:
    """Take one gradient in. The first one sets the mean, so the weights always sum to one."""
    weight = jnp.where(moments.seen == 0, 1.0, 1 - decay)
    mean = jax.tree.map(lambda old, new: old + weight * (new - old), moments.mean, gradient)
    spread = jax.tree.map(
        lambda old, centre, new: (1 - weight) * (old + weight * (new - centre) ** 2),
        moments.spread,
        moments.mean,
        gradient,
    )
    return GradientMoments(mean, spread, moments.seen + 1)


def variance(moments: GradientMoments, decay: jax.Array | float) -> Parameters:
    """v, the variance of a mini-batch gradient."""
    return jax.tree.map(lambda spread: spread * (1 + decay) / (2 * decay), moments.spread)


def constant_sgd(gradient: Parameters, variances: Parameters, points: jax.Array, cap: jax.Array | float) -> Parameters:
    """The change of every parameter."""
    return jax.tree.map(lambda g, v: -jnp.minimum(2 / (points * v), cap) * g, gradient, variances)


def fisher_scoring(
    key: jax.Array,
    gradient: Parameters,
    variances: Parameters,
    points: jax.Array,
    step: jax.Array | float,
    cap: jax.Array | float,
) -> Parameters:
    """The change of every parameter; the added noise is scaled with the capped step."""

    def change(g: jax.Array, v: jax.Array, normal: jax.Array) -> jax.Array:
        rate = jnp.minimum(step * 2 / (points * (1 + step) * v), cap)
        return rate * (jnp.sqrt(v / step) * normal - g)

    return jax.tree.map(change, gradient, variances, normals_like(key, gradient))
