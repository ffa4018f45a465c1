"""Mini-batch training: a fixed or a traced number of optimiser steps as one loop, on batches drawn by index.

The optimiser is split in two: a `direction` (optax) and a learning rate that depends on the number of updates done so
far, γ(s) = γ0 / (1 + ρ s). Nothing is ever reset between trainings unless the caller sets `updates` to zero.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax

Precision = Literal["default", "highest"]
Parameters = Any  # a PyTree of float arrays

DIVERGED = 1e5  # a mean squared error this many times the mean squared reward is no fit: see `or_nan_if_diverged`


class Fit(NamedTuple):
    """Parameters under training, with what the optimiser remembers."""

    parameters: Parameters
    optimiser: optax.OptState
    updates: jax.Array  # () how many so far


def begin(parameters: Parameters, direction: optax.GradientTransformation) -> Fit:
    return Fit(parameters, direction.init(parameters), jnp.int32(0))


def rms_direction(gradient_clip: jax.Array | float) -> optax.GradientTransformation:
    """RMSProp as TensorFlow 1 has it: m ← 0.9 m + 0.1 g², g / √(m + 1e-10), with m starting at one."""
    return optax.chain(
        clip_by_global_norm(gradient_clip),
        optax.scale_by_rms(decay=0.9, eps=1e-10, initial_scale=1.0, eps_in_sqrt=True),
    )


def clip_by_global_norm(limit: jax.Array | float) -> optax.GradientTransformation:
    """Scale the whole gradient so that its norm is at most `limit`; NaN where the norm is not finite.

    optax would turn a gradient whose norm overflowed into zeros, and the network would stop learning, finite and
    useless, with nothing to show that it had diverged.
    """

    def clip(gradient: Parameters, state: optax.EmptyState, parameters: Parameters = None) -> Any:
        norm = optax.global_norm(gradient)
        factor = jnp.where(jnp.isfinite(norm), limit / jnp.maximum(norm, limit), jnp.nan)
        return jax.tree.map(lambda leaf: leaf * factor, gradient), state

    return optax.GradientTransformation(lambda parameters: optax.EmptyState(), clip)


def decayed(learning_rate: jax.Array | float, decay: jax.Array | float, updates: jax.Array) -> jax.Array:
    """γ0 / (1 + ρ s)."""
    return learning_rate / (1 + decay * updates.astype(jnp.float32))


def train(
    key: jax.Array,
    fit: Fit,
    steps: jax.Array | int,
    *,
    draw: Callable[[jax.Array], Any],
    loss: Callable[[jax.Array, Parameters, Any], jax.Array],
    direction: optax.GradientTransformation,
    rate: Callable[[jax.Array], jax.Array],
    stride: int = 1,
) -> Fit:
    """`steps` optimiser steps, each on a fresh batch, whatever `draw` gives and `loss` takes.

    `rate` maps updates done so far to the learning rate.

    `steps` may be traced, but must not depend on what is batched by `vmap`: the loop would then run to the longest.
    A GPU asks the host before every pass of a loop of traced length and is idle meanwhile: with a `stride` it asks
    once in so many steps, and takes up to `stride` − 1 steps that are not kept.
    """

    def one_step(index: jax.Array, fit: Fit) -> Fit:
        batch_key, loss_key = (jax.random.fold_in(key, 2 * index + role) for role in (0, 1))
        gradient = jax.grad(loss, argnums=1)(loss_key, fit.parameters, draw(batch_key))
        with jax.numpy_dtype_promotion("standard"):  # optax raises floats to integer counters
            change, optimiser = direction.update(gradient, fit.optimiser, fit.parameters)
        scale = -rate(fit.updates + index)  # counted by the loop: one kernel less per step on a GPU
        parameters = jax.tree.map(lambda leaf, by: leaf + scale * by, fit.parameters, change)
        return fit._replace(parameters=parameters, optimiser=optimiser)

    def several(number: jax.Array, fit: Fit) -> Fit:
        def one_of_them(offset: jax.Array, fit: Fit) -> Fit:
            index = number * stride + offset
            return jax.tree.map(lambda new, old: jnp.where(index < steps, new, old), one_step(index, fit), fit)

        return jax.lax.fori_loop(0, stride, one_of_them, fit)

    if stride == 1:
        trained = jax.lax.fori_loop(0, steps, one_step, fit)
    else:
        trained = jax.lax.fori_loop(0, (steps + stride - 1) // stride, several, fit)
    return trained._replace(updates=fit.updates + steps)


def mean_squared_error(predicted: jax.Array, rewards: jax.Array) -> jax.Array:
    return jnp.mean((predicted - rewards) ** 2)


def or_nan_if_diverged(parameters: Parameters, error: jax.Array, rewards: jax.Array) -> Parameters:
    """`parameters`, or NaN when their mean squared `error` is absurd compared with the rewards.

    Clipping, RMSProp and step caps bound every step, so a model with a hopeless learning rate can wander forever at
    huge finite weights. Its numbers would be those of a random policy; NaN makes the loop report a divergence instead.
    """
    limit = DIVERGED * (1 + jnp.mean(rewards**2))
    return jax.tree.map(lambda leaf: jnp.where(error <= limit, leaf, jnp.nan), parameters)


def precision_scope(precision: Precision) -> contextlib.AbstractContextManager[Any]:
    """Matrix products traced inside run in this precision: `default` is TF32 on recent GPUs, `highest` full float32."""
    return contextlib.nullcontext() if precision == "default" else jax.default_matmul_precision("highest")
