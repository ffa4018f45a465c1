"""Training of a network of two hidden layers in one GPU kernel, written with Pallas (Triton): one network per block.

The plain path (`training.train`) launches about 28 kernels per optimiser step. Here a block of threads takes several
steps of one network without leaving the GPU: forward, backward, clipping by the global norm, RMSProp. Batches are drawn
by the calls and keys of the plain path, a few steps at a time. Products are TF32 with float32 sums, as in the plain
path with its default precision, so both agree to the rounding of TF32. docs/performance.md says when it pays: a network
occupies one multiprocessor, so 132 networks take as long as one.

Arrays are padded to powers of two. A column of ones follows the contexts, and one unit of each hidden layer is held at
one by a fixed weight: biases are then ordinary columns of the weights. Padded weights have no gradient and stay zero.
Units are rows and examples are columns throughout, because the matrix unit takes at least 64 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from showdown.errors import UsageError
from showdown.history import Batch
from showdown.posteriors.network import Layer, Network
from showdown.posteriors.training import Fit

Sizes = tuple[tuple[int, int], ...]  # (inputs, outputs) of each layer

UNITS = 128  # of a padded hidden layer
OUTPUTS = 16  # of the padded last layer
WIDTH = 64  # of padded contexts
ROWS = 64  # examples at a time: what fits into the registers of a multiprocessor beside the gradients
WARPS = 8
STEPS_AT_ONCE = 20  # at most, of which the batches are drawn together
LIMITS = (
    f"trains in TF32, without layer norm or dropout: two hidden layers of at most {UNITS - 1} units, at most "
    f"{WIDTH - 1} features and {OUTPUTS} actions, and batches of a multiple of {ROWS}"
)

TrainingKernel = Literal["plain", "fused"]


class Padded(NamedTuple):
    """Weights or mean squares of one network; the bias of a hidden layer is a column, that of the last one a row."""

    first: jax.Array  # (UNITS, WIDTH)
    second: jax.Array  # (UNITS, UNITS)
    last: jax.Array  # (UNITS, OUTPUTS): units × actions


def fits(parameters: Network, batch_size: int) -> bool:
    """Whether the kernel can train this network: two hidden layers, no layer norm, sizes within the padded ones."""
    if len(parameters) != 3 or any(layer.scale is not None for layer in parameters):
        return False
    (features, units), (_, upper_units), (_, num_actions) = (layer.weights.shape[-2:] for layer in parameters)
    room = features < WIDTH and units < UNITS and upper_units < UNITS and num_actions <= OUTPUTS
    return room and batch_size % ROWS == 0


def train(
    key: jax.Array,
    fit: Fit,
    steps: int,
    *,
    draw: Callable[[jax.Array], Batch],
    rate: Callable[[jax.Array], jax.Array],
    gradient_clip: jax.Array | float,
    interpret: bool = False,
) -> Fit:
    """What `training.train` does with the squared error of `network.predict` and `training.rms_direction`."""
    clipping, rms = fit.optimiser
    at_once = max(count for count in range(1, STEPS_AT_ONCE + 1) if steps % count == 0)
    limit = jnp.full(1, gradient_clip, jnp.float32)
    sizes = tuple(layer.weights.shape for layer in fit.parameters)

    def several(number: jax.Array, state: tuple[Padded, Padded]) -> tuple[Padded, Padded]:
        indices = number * at_once + jnp.arange(at_once, dtype=jnp.int32)
        batches = jax.vmap(lambda index: draw(jax.random.fold_in(key, 2 * index)))(indices)
        batches = batches._replace(contexts=_with_ones(batches.contexts))
        rates = jax.vmap(rate)(fit.updates + indices)
        outputs = _call(sizes, state, interpret)(*batches, rates, limit, *state[0], *state[1])
        return Padded(*outputs[:3]), Padded(*outputs[3:])

    start = _padded(fit.parameters, held=1.0), _padded(rms.nu, held=0.0)
    weights, squares = jax.lax.fori_loop(0, steps // at_once, several, start)
    return Fit(
        parameters=_unpadded(weights, sizes),
        optimiser=(clipping, rms._replace(nu=_unpadded(squares, sizes))),
        updates=fit.updates + steps,
    )


def _with_ones(contexts: jax.Array) -> jax.Array:
    """(…, WIDTH): a column of ones after the contexts, then zeros."""
    room = [(0, 0)] * (contexts.ndim - 1)
    ones = jnp.pad(contexts, [*room, (0, 1)], constant_values=1.0)
    return jnp.pad(ones, [*room, (0, WIDTH - ones.shape[-1])])


def _padded(layers: Network, held: float) -> Padded:
    """Each layer with its bias as one more row; `held` is what keeps the unit of ones at one."""

    def block(layer: Layer, rows: int, columns: int, corner: float) -> jax.Array:
        inputs, outputs = layer.weights.shape
        whole = jnp.zeros((rows, columns)).at[:inputs, :outputs].set(layer.weights).at[inputs, :outputs].set(layer.bias)
        return whole.at[inputs, outputs].set(corner) if corner else whole

    first, second, last = layers
    return Padded(
        block(first, WIDTH, UNITS, held).T, block(second, UNITS, UNITS, held).T, block(last, UNITS, OUTPUTS, 0.0)
    )


def _unpadded(whole: Padded, sizes: Sizes) -> Network:
    parts = whole.first.T, whole.second.T, whole.last
    return tuple(
        Layer(part[:inputs, :outputs], part[inputs, :outputs])
        for part, (inputs, outputs) in zip(parts, sizes, strict=True)
    )


def _call(sizes: Sizes, state: tuple[Padded, Padded], interpret: bool) -> Callable[..., Any]:
    """The kernel for one network; `vmap` makes a grid of all networks."""
    out_shape = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in (*state[0], *state[1])]
    if interpret:
        return pl.pallas_call(partial(_kernel, sizes=sizes, barrier=lambda: None), out_shape=out_shape, interpret=True)
    if jax.default_backend() != "gpu":
        raise UsageError("training_kernel=fused needs a GPU")
    try:
        from jax.experimental.pallas import triton  # deprecated in JAX 0.11, and may be gone later
    except ImportError as error:
        raise UsageError("training_kernel=fused needs a JAX that has Pallas for Triton") from error
    return pl.pallas_call(
        partial(_kernel, sizes=sizes, barrier=triton.debug_barrier),
        out_shape=out_shape,
        name="fused_training",
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
    )


def _kernel(contexts, actions, rewards, rates, limit, *arrays, sizes, barrier):
    """All steps of one network. Weights and mean squares live in the outputs, which stay in the cache."""
    before, weights, squares = arrays[:6], arrays[6:9], arrays[9:]
    for source, target in zip(before, arrays[6:], strict=True):
        target[...] = source[...]

    def one_step(step, _):
        barrier()  # the weights of the step before are written
        total = _gradients(contexts, actions, rewards, weights, step)
        total = [
            jnp.where(_trained(part.shape, *size), part, 0.0) for part, size in zip(total, _kept(sizes), strict=True)
        ]
        norm = jnp.sqrt(sum(jnp.sum(part * part) for part in total))
        factor = jnp.where(norm < jnp.inf, limit[0] / jnp.maximum(norm, limit[0]), jnp.nan)
        rate = rates[step]
        barrier()  # nobody reads the old weights any more
        for gradient, weight, square in zip(total, weights, squares, strict=True):  # as in `training.rms_direction`
            square_now = 0.9 * square[...] + (0.1 * factor * factor) * (gradient * gradient)
            square[...] = square_now
            weight[...] = weight[...] - (rate * factor) * (gradient * jax.lax.rsqrt(square_now + 1e-10))
        return 0

    jax.lax.fori_loop(0, rates.shape[0], one_step, 0)


def _gradients(contexts, actions, rewards, weights, step):
    """Of the mean squared error of one batch, in the shapes of the weights."""
    batch = rewards.shape[1]
    first, second, last = weights
    upper_weights, last_weights = second[...], last[...]  # held in shared memory
    action = jax.lax.broadcasted_iota(jnp.int32, (OUTPUTS, ROWS), 0)

    def add(block, total):
        rows = pl.ds(block * ROWS, ROWS)
        inputs = contexts[step, rows, :]
        # Shared memory has no room for the first weights too. An offset that is always zero, which the compiler cannot
        # know, keeps it from loading them before the loop.
        lower_weights = first[pl.ds((block >> 20) * UNITS, UNITS), :]
        lower = jnp.maximum(_product(lower_weights, inputs, (1, 1)), 0.0)
        upper = jnp.maximum(_product(upper_weights, lower), 0.0)
        predicted = _product(last_weights, upper, (0, 0))
        error = (predicted - rewards[step, rows][None, :]) * (2.0 / batch)
        delta = jnp.where(action == actions[step, rows][None, :], error, 0.0)
        last_total = total[2] + _product(upper, delta, (1, 1))
        delta = jnp.where(upper > 0, _product(last_weights, delta), 0.0)
        second_total = total[1] + _product(delta, lower, (1, 1))
        delta = jnp.where(lower > 0, _product(upper_weights, delta, (0, 0)), 0.0)
        return total[0] + _product(delta, inputs), second_total, last_total

    start = tuple(jnp.zeros(weight.shape, jnp.float32) for weight in weights)
    return jax.lax.fori_loop(0, batch // ROWS, add, start)


def _product(left: jax.Array, right: jax.Array, over: tuple[int, int] = (1, 0)) -> jax.Array:
    return jax.lax.dot_general(left, right, (((over[0],), (over[1],)), ((), ())), preferred_element_type=jnp.float32)


def _kept(sizes: Sizes) -> tuple[tuple[int, int], ...]:
    """Rows and columns of each padded array that are weights or biases."""
    (features, units), (_, upper_units), (_, num_actions) = sizes
    return (units, features + 1), (upper_units, units + 1), (upper_units + 1, num_actions)


def _trained(shape: tuple[int, ...], rows: int, columns: int) -> jax.Array:
    row, column = (jax.lax.broadcasted_iota(jnp.int32, shape, axis) for axis in (0, 1))
    return (row < rows) & (column < columns)
