"""A sparse variational Gaussian process: what is known is summed up in the values at a few inducing points.

With Z the inducing points, W the inverse factor of their covariance, and a(x, i) = W k(Z, (x, i)) the features of
action i at context x, the values u at Z are W⁻¹v with v ~ N(0, I) a priori, and given v a value is Gaussian with mean
aᵀv and the variance k − aᵀa that Z leaves open. For q(v) = N(m, S), targets y with noise σ² and batches of B out of N
rows:

    ELBO = N/B Σ [ ln N(y; aᵀm, σ²) − (k − aᵀa + aᵀSa) / 2σ² ] − KL(q ‖ N(0, I))  ≤  ln p(y).

Given hyper-parameters and Z, the best q is that of a linear regression on the features: S⁻¹ = Λ = I + Σ aaᵀ/σ² and
Λm = θ = Σ ay/σ². So q is never descended to: a natural gradient step of size ρ moves (Λ, θ) that part of the way to the
best one of a batch, and with ρ = 1 and all rows it is there. When Z are the data, it is the exact posterior.

Written for float64: call everything here under `float64.enabled`.

Reference: Titsias, "Variational Learning of Inducing Variables in Sparse Gaussian Processes", AISTATS 2009; Hensman,
Fusi, Lawrence, "Gaussian Processes for Big Data", UAI 2013.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors import multitask_kernel as kernel
from showdown.posteriors.gaussian_process import Points, covariance, cross_covariance, filled, prior_covariance
from showdown.posteriors.inverse_factor import factorise
from showdown.posteriors.multitask_kernel import Combination, Hyperparameters
from showdown.posteriors.regression import Regressions

NUGGET = 1e-8  # on the diagonal of the inducing points' covariance, relative to the Matérn amplitude


class Natural(NamedTuple):
    """q(v) in natural coordinates."""

    precision: jax.Array  # (num_inducing, num_inducing) Λ
    weighted: jax.Array  # (num_inducing,) θ


def nugget(hyperparameters: Hyperparameters) -> jax.Array:
    return NUGGET * jax.nn.softplus(hyperparameters.amplitude)


def factor_of(
    hyperparameters: Hyperparameters, inducing: Points, combination: Combination
) -> tuple[jax.Array, jax.Array]:
    """W, (num_inducing, num_inducing), and the jitter it took beyond the nugget."""
    return factorise(covariance(hyperparameters, inducing, nugget(hyperparameters), combination))


def features(
    hyperparameters: Hyperparameters,
    inducing: Points,
    factor: jax.Array,
    contexts: jax.Array,
    actions: jax.Array,
    combination: Combination,
) -> jax.Array:
    """a of each row, (rows, num_inducing)."""
    near = kernel.of_contexts(hyperparameters, contexts, inducing.contexts, combination)  # (rows, num_inducing)
    num_actions = hyperparameters.tasks.shape[0]
    of_rows, of_inducing = (jax.nn.one_hot(each, num_actions, dtype=near.dtype) for each in (actions, inducing.actions))
    tasks = of_rows @ kernel.of_tasks(hyperparameters) @ of_inducing.T  # products, whose gradient needs no scatter
    return jnp.where(filled(inducing), near * tasks, 0.0) @ factor.T


def best(moments: Natural) -> Natural:
    """The best q, from Σ aaᵀ/σ² and Σ ay/σ² over all rows."""
    identity = jnp.eye(moments.weighted.shape[0], dtype=moments.weighted.dtype)
    return moments._replace(precision=moments.precision + identity)


def belief(natural: Natural) -> tuple[Regressions, jax.Array]:
    """q as the bank of one regression that absorbs new rows (see `regression.py`), and the jitter that took."""
    factor, jitter = factorise(natural.precision)
    mean = (factor @ natural.weighted) @ factor
    return Regressions(mean[None], factor[None]), jitter


def batch_bound(
    hyperparameters: Hyperparameters,
    designs: jax.Array,
    contexts: jax.Array,
    targets: jax.Array,
    q: Regressions,
    points: jax.Array,
    combination: Combination,
) -> jax.Array:
    """The ELBO less its divergence, from a batch out of `points` rows with features `designs`."""
    noise = kernel.noise_variance(hyperparameters)
    variance = kernel.variance_of_contexts(hyperparameters, contexts, combination)
    left_open = variance - jnp.sum(designs**2, axis=1) + jnp.sum((designs @ q.root[0].T) ** 2, axis=1)
    misfit = (targets - designs @ q.mean[0]) ** 2 + left_open
    return points * jnp.mean(-0.5 * misfit / noise - 0.5 * jnp.log(2 * jnp.pi * noise))


def divergence(q: Regressions) -> jax.Array:
    """KL(q ‖ N(0, I)); the root of q must be triangular, as `belief` gives it."""
    mean, root = q.mean[0], q.root[0]
    return 0.5 * (jnp.sum(root**2) + mean @ mean - mean.shape[0]) - jnp.sum(jnp.log(jnp.diagonal(root)))


def predict(
    hyperparameters: Hyperparameters,
    inducing: Points,
    factor: jax.Array,
    q: Regressions,
    context: jax.Array,
    combination: Combination,
) -> tuple[jax.Array, jax.Array]:
    """Mean and covariance of the values of all actions at a context, (num_actions,) and (num_actions, num_actions)."""
    designs = factor @ cross_covariance(hyperparameters, inducing, context, combination)  # (num_inducing, num_actions)
    known = q.root[0] @ designs
    prior = prior_covariance(hyperparameters, context, combination)
    return designs.T @ q.mean[0], prior - designs.T @ designs + known.T @ known
