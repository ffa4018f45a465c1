"""The covariance of the rewards of (context, action) pairs: a kernel over contexts times a kernel over actions.

With α = softplus(A), β = softplus(B), length scales λ = softplus(clip(ℓ, −5, 5)) per feature (one set for each part)
and a latent vector v_i per action i:

    Matérn 3/2   m(x, x') = α (1 + √3 r) exp(−√3 r),   r = |x/λ − x'/λ|
    linear       l(x, x') = β (x/λ') · (x'/λ')
    task         t(i, j)  = exp(−|v_i − v_j|²)

    k((x, i), (x', j)) = (m + l) t,  or  m l t  where the two are combined as a product.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

Combination = Literal["sum", "product"]

ROOT_3 = 3**0.5
NOISE_FLOOR = 1e-6  # least variance of an observation
TINY = 1e-36  # squared distance below which the root's slope is not asked for


class Hyperparameters(NamedTuple):
    """Unconstrained; what is fitted."""

    amplitude: jax.Array  # () A
    linear_amplitude: jax.Array  # () B
    length_scales: jax.Array  # (context_dim,) ℓ of the Matérn part
    linear_length_scales: jax.Array  # (context_dim,) ℓ of the linear part
    noise: jax.Array  # () softplus of it is the variance of an observation, in addition to the floor
    tasks: jax.Array  # (num_actions, task_dim) v
    means: jax.Array  # (num_actions,) constant means of rewards, where they are trained


def init(key: jax.Array, context_dim: int, num_actions: int, task_dim: int) -> Hyperparameters:
    """As released: A = B = 1, everything else 0, and task vectors from a standard normal."""
    return Hyperparameters(
        amplitude=jnp.ones(()),
        linear_amplitude=jnp.ones(()),
        length_scales=jnp.zeros(context_dim),
        linear_length_scales=jnp.zeros(context_dim),
        noise=jnp.zeros(()),
        tasks=jax.random.normal(key, (num_actions, task_dim)),
        means=jnp.zeros(num_actions),
    )


def log_prior(hyperparameters: Hyperparameters) -> jax.Array:
    """Up to a constant: standard normals on A, B and exp(noise), N(0, 10²) on every coordinate of a task vector."""
    amplitude, linear_amplitude, _, _, noise, tasks, _ = hyperparameters
    return -0.5 * (amplitude**2 + linear_amplitude**2 + jnp.exp(noise) ** 2 + jnp.sum(tasks**2) / 100)


def noise_variance(hyperparameters: Hyperparameters) -> jax.Array:
    return jax.nn.softplus(hyperparameters.noise) + NOISE_FLOOR


def of_contexts(
    hyperparameters: Hyperparameters, left: jax.Array, right: jax.Array, combination: Combination
) -> jax.Array:
    """The part that contexts decide, (rows of left, rows of right)."""
    scale, linear_scale = map(_length, (hyperparameters.length_scales, hyperparameters.linear_length_scales))
    distance = ROOT_3 * jnp.sqrt(jnp.maximum(_squared_distances(left / scale, right / scale), TINY))
    matern = jax.nn.softplus(hyperparameters.amplitude) * (1 + distance) * jnp.exp(-distance)
    linear = jax.nn.softplus(hyperparameters.linear_amplitude) * ((left / linear_scale) @ (right / linear_scale).T)
    return matern + linear if combination == "sum" else matern * linear


def variance_of_contexts(hyperparameters: Hyperparameters, contexts: jax.Array, combination: Combination) -> jax.Array:
    """`of_contexts` of each row with itself, (rows,)."""
    matern = jax.nn.softplus(hyperparameters.amplitude)
    scaled = contexts / _length(hyperparameters.linear_length_scales)
    linear = jax.nn.softplus(hyperparameters.linear_amplitude) * jnp.sum(scaled**2, axis=-1)
    return matern + linear if combination == "sum" else matern * linear


def of_tasks(hyperparameters: Hyperparameters) -> jax.Array:
    """The part that actions decide, (num_actions, num_actions)."""
    between = hyperparameters.tasks[:, None, :] - hyperparameters.tasks[None, :, :]
    return jnp.exp(-jnp.sum(between**2, axis=-1))


def _length(raw: jax.Array) -> jax.Array:
    return jax.nn.softplus(jnp.clip(raw, -5.0, 5.0))


def _squared_distances(left: jax.Array, right: jax.Array) -> jax.Array:
    squares = jnp.sum(left**2, axis=-1)[:, None] + jnp.sum(right**2, axis=-1)[None, :]
    return squares - 2 * left @ right.T
