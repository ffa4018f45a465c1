"""An exact Gaussian process over (context, action) pairs in buffers of fixed size.

Rows from `number` on are empty: their covariance is the identity's and their targets are zero, so they change neither
prediction nor evidence. With W the inverse factor of the covariance K of the observations (kernel plus noise), c the
covariances of the observations with the values of all actions at a context, and K₀ those of the values among
themselves:

    V = W c,   mean = Vᵀ W y,   covariance = K₀ − VᵀV,   ln p(y) = −½|Wy|² + Σ ln W_ii − (n/2) ln 2π.

A new observation is a new row of W. Written for float64: call everything here under `float64.enabled`.

Reference: Rasmussen, Williams, "Gaussian Processes for Machine Learning", 2006, chapter 2; Bonilla, Chai, Williams,
"Multi-task Gaussian Process Prediction", NeurIPS 2007.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors import multitask_kernel as kernel
from showdown.posteriors.inverse_factor import factorise, new_row
from showdown.posteriors.multitask_kernel import Combination, Hyperparameters

LEAST_VARIANCE = 1e-4  # added to the variance of an action's rewards, which may all be equal


class Points(NamedTuple):
    """Places where the process is known."""

    contexts: jax.Array  # (size, context_dim)
    actions: jax.Array  # (size,)
    number: jax.Array  # () how many rows are filled


def filled(points: Points) -> jax.Array:
    """Whether each row is, (size,)."""
    return jnp.arange(points.actions.shape[0], dtype=jnp.int32) < points.number


def covariance(
    hyperparameters: Hyperparameters, points: Points, extra: jax.Array, combination: Combination
) -> jax.Array:
    """The covariance of the values at `points`, with `extra` on the diagonal, (size, size)."""
    weights = jnp.where(filled(points)[:, None], _one_hot(hyperparameters, points.actions), 0.0)
    among_tasks = weights @ kernel.of_tasks(hyperparameters) @ weights.T  # products, whose gradient needs no scatter
    among = kernel.of_contexts(hyperparameters, points.contexts, points.contexts, combination) * among_tasks
    return among + jnp.diag(jnp.where(filled(points), extra, 1.0))


def of_observations(hyperparameters: Hyperparameters, points: Points, combination: Combination) -> jax.Array:
    """K, (size, size)."""
    return covariance(hyperparameters, points, kernel.noise_variance(hyperparameters), combination)


def cross_covariance(
    hyperparameters: Hyperparameters, points: Points, context: jax.Array, combination: Combination
) -> jax.Array:
    """c: of the values at `points` with those of all actions at a context, (size, num_actions)."""
    near = kernel.of_contexts(hyperparameters, points.contexts, context[None], combination)  # (size, 1)
    return jnp.where(filled(points)[:, None], near * kernel.of_tasks(hyperparameters)[points.actions], 0.0)


def prior_covariance(hyperparameters: Hyperparameters, context: jax.Array, combination: Combination) -> jax.Array:
    """K₀: of the values of all actions at a context, (num_actions, num_actions)."""
    variance = kernel.variance_of_contexts(hyperparameters, context, combination)
    return variance * kernel.of_tasks(hyperparameters)


def log_marginal_likelihood(
    hyperparameters: Hyperparameters, points: Points, targets: jax.Array, combination: Combination
) -> jax.Array:
    """ln p(y)."""
    constant = 0.5 * jnp.log(2 * jnp.pi) * points.number.astype(targets.dtype)
    return _log_density(of_observations(hyperparameters, points, combination), targets) - constant


@jax.custom_vjp
def _log_density(covariance: jax.Array, targets: jax.Array) -> jax.Array:
    return _density_forward(covariance, targets)[0]


def _density_forward(covariance: jax.Array, targets: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    factor, _ = factorise(covariance)
    whitened = factor @ targets
    value = -0.5 * whitened @ whitened + jnp.sum(jnp.log(jnp.diagonal(factor)))
    return value, (factor, whitened @ factor)


def _density_backward(kept: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The closed form, ½(K⁻¹yyᵀK⁻¹ − K⁻¹) and −K⁻¹y: one product, where differentiating the factor takes three."""
    factor, solved = kept
    return 0.5 * slope * (jnp.outer(solved, solved) - factor.T @ factor), -slope * solved


_log_density.defvjp(_density_forward, _density_backward)


def predict(
    hyperparameters: Hyperparameters,
    points: Points,
    targets: jax.Array,
    factor: jax.Array,
    context: jax.Array,
    combination: Combination,
) -> tuple[jax.Array, jax.Array]:
    """Mean and covariance of the values of all actions at a context, (num_actions,) and (num_actions, num_actions)."""
    cross = cross_covariance(hyperparameters, points, context, combination)
    whitened = factor @ jnp.concatenate([cross, targets[:, None]], axis=1)  # one reading of W for both
    values, data = whitened[:, :-1], whitened[:, -1]
    return values.T @ data, prior_covariance(hyperparameters, context, combination) - values.T @ values


def row_for(
    hyperparameters: Hyperparameters,
    points: Points,
    factor: jax.Array,
    context: jax.Array,
    action: jax.Array,
    extra: jax.Array,
    combination: Combination,
) -> tuple[jax.Array, jax.Array]:
    """The row of W for one more point, whose diagonal carries `extra`, (size,), and the jitter beyond that, ()."""
    cross = cross_covariance(hyperparameters, points, context, combination)[:, action]
    variance = kernel.variance_of_contexts(hyperparameters, context, combination)
    return new_row(factor, points.number, cross, variance, extra)


def reward_moments(
    actions: jax.Array, rewards: jax.Array, count: jax.Array, num_actions: int, inflated: bool
) -> tuple[jax.Array, jax.Array]:
    """Mean and deviation of each action's rewards among the first `count`; 0 and 1 for an action never played.

    `inflated`, the deviation is the released code's: the squares of all steps, with a reward of zero where another
    action was played, over the number of the action's own.
    """
    valid = jnp.arange(actions.shape[0], dtype=jnp.int32) < count
    own = (actions == jnp.arange(num_actions, dtype=actions.dtype)[:, None]) & valid  # (num_actions, size)
    played = jnp.sum(own, axis=1).astype(rewards.dtype)
    number = jnp.maximum(played, 1)
    mean = jnp.sum(jnp.where(own, rewards, 0.0), axis=1) / number
    variance = jnp.sum(jnp.where(own, (rewards - mean[:, None]) ** 2, 0.0), axis=1) / number
    if inflated:
        variance += (count.astype(rewards.dtype) - played) * mean**2 / number
    return mean, jnp.where(played > 0, jnp.sqrt(variance + LEAST_VARIANCE), 1.0)


def _one_hot(hyperparameters: Hyperparameters, actions: jax.Array) -> jax.Array:
    num_actions = hyperparameters.tasks.shape[0]
    return jax.nn.one_hot(actions, num_actions, dtype=hyperparameters.tasks.dtype)
