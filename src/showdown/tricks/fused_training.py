"""Training of a network of two hidden layers in one GPU kernel, written with Pallas (Triton): one network per block.

The plain path (`training.train`) launches about 28 kernels per optimiser step. Here a block of threads takes several
steps of one network without leaving the GPU: forward, backward, clipping by the global norm, RMSProp. Batches are drawn
by the calls and keys of the plain path, a few steps at a time. docs/performance.md says when it pays: a network
occupies one multiprocessor, so 132 networks take little longer than one.

Products are of float16 with float32 sums. The plain path's are of TF32, which rounds to the same 11 bits, so both agree
to that rounding while numbers stay within the range of float16 (`float16.py`); the matrix unit takes float16 at twice
the speed, from half the shared memory and, unlike TF32, in either order. To keep the range, each example is divided by
a power of two near its largest context, with the one that stands for the bias: all that follows is then divided too,
as ReLU units have no scale of their own. Errors are divided by a power of two near the largest of them.

Arrays are padded to powers of two. A column of ones follows the contexts, and one unit of each hidden layer is held at
one by a fixed weight: biases are then ordinary rows of the weights. Padded weights have no gradient and stay zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from showdown.basics.errors import UsageError
from showdown.tricks import float16, plain

if TYPE_CHECKING:  # this package is below those
    from showdown.posteriors.network import Layer, Network
    from showdown.posteriors.training import Fit
    from showdown.protocol.history import Batch

Sizes = tuple[tuple[int, int], ...]  # (inputs, outputs) of each layer

UNITS = 128  # of a padded hidden layer
OUTPUTS = 16  # of the padded last layer
WIDTH = 64  # of padded contexts
ROWS = 128  # examples at a time: as many as fit into the registers with the gradients
WARPS = 8
STEPS_AT_ONCE = 20  # at most, of which the batches are drawn together
SMALLEST = 2.0**-8  # smaller contexts are not scaled up to one: the one that follows them would leave the range
HEADROOM = 2.0**-4  # errors are scaled to at most 32: what is propagated back may be 2,000 times larger
NUM_DATA = 6  # arguments of the kernel before weights and mean squares
LIMITS = (
    "trains networks of float32 with the precision of TF32, without layer norm or dropout: two hidden layers of at "
    f"most {UNITS - 1} units, at most {WIDTH - 1} features and {OUTPUTS} actions, and batches of a multiple of {ROWS}"
)

TrainingKernel = Literal["auto", "plain", "fused"]


class Padded(NamedTuple):
    """Weights or mean squares of one network, inputs × outputs; the row below the weights is the bias."""

    first: jax.Array  # (WIDTH, UNITS)
    second: jax.Array  # (UNITS, UNITS)
    last: jax.Array  # (UNITS, OUTPUTS)


def fits(parameters: Network, batch_size: int) -> bool:
    """Whether the kernel can train this network: float32, two hidden layers, no layer norm, sizes within the padded."""
    if len(parameters) != 3 or any(layer.scale is not None for layer in parameters):
        return False
    if parameters[0].weights.dtype != jnp.float32:  # where a user turned on `jax_enable_x64`
        return False
    (features, units), (_, upper_units), (_, num_actions) = (layer.weights.shape[-2:] for layer in parameters)
    room = features < WIDTH and units < UNITS and upper_units < UNITS and num_actions <= OUTPUTS
    return room and batch_size % ROWS == 0


def pays() -> bool:
    """Whether this process has the GPU for which the kernel was written and measured, and a JAX that compiles it."""
    if jax.default_backend() != "gpu" or plain():
        return False
    chosen = jax.config.jax_default_device  # type: ignore[attr-defined]  # by the user, who may have chosen a CPU
    capability = getattr(chosen or jax.local_devices()[0], "compute_capability", "")
    return str(capability).startswith("9.") and find_spec("jax.experimental.pallas.triton") is not None  # Hopper


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
        contexts, scales = _halved(batches.contexts)
        rates = jax.vmap(rate)(fit.updates + indices)
        given = contexts, scales, batches.actions, batches.rewards, rates, limit
        outputs = _call(sizes, state, interpret)(*given, *state[0], *state[1])
        return Padded(*outputs[:3]), Padded(*outputs[3:6])

    start = _padded(fit.parameters, held=1.0), _padded(rms.nu, held=0.0)
    weights, squares = jax.lax.fori_loop(0, steps // at_once, several, start)
    return fit._replace(
        parameters=_unpadded(weights, fit.parameters),
        optimiser=(clipping, rms._replace(nu=_unpadded(squares, rms.nu))),
        updates=fit.updates + steps,
    )


def _halved(contexts: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(…, WIDTH) in float16: contexts, a one and zeros, divided by a power of two per example; and that power."""
    room = [(0, 0)] * (contexts.ndim - 1)
    scale, inverse = float16.power_of_two(jnp.maximum(jnp.max(jnp.abs(contexts), axis=-1), SMALLEST))
    ones = jnp.pad(contexts, [*room, (0, 1)], constant_values=1.0) * inverse[..., None]
    return jnp.pad(ones.astype(jnp.float16), [*room, (0, WIDTH - ones.shape[-1])]), scale


def _padded(layers: Network, held: float) -> Padded:
    """Each layer with its bias as one more row; `held` is what keeps the unit of ones at one."""

    def block(layer: Layer, rows: int, columns: int, corner: float) -> jax.Array:
        inputs, outputs = layer.weights.shape
        whole = jnp.zeros((rows, columns)).at[:inputs, :outputs].set(layer.weights).at[inputs, :outputs].set(layer.bias)
        return whole.at[inputs, outputs].set(corner) if corner else whole

    first, second, last = layers
    return Padded(block(first, WIDTH, UNITS, held), block(second, UNITS, UNITS, held), block(last, UNITS, OUTPUTS, 0.0))


def _unpadded(whole: Padded, like: Network) -> Network:
    """The layers that `_padded` has made from others of the sizes of `like`."""

    def layer(part: jax.Array, old: Layer) -> Layer:
        inputs, outputs = old.weights.shape
        return old._replace(weights=part[:inputs, :outputs], bias=part[inputs, :outputs])

    return tuple(layer(part, old) for part, old in zip(whole, like, strict=True))


def _call(sizes: Sizes, state: tuple[Padded, Padded], interpret: bool) -> Callable[..., Any]:
    """The kernel for one network; `vmap` makes a grid of all. Weights and mean squares are changed in place."""
    arrays = *state[0], *state[1]
    operands = [jax.ShapeDtypeStruct(array.shape, jnp.float16) for array in state[0]]
    given: dict[str, Any] = {
        "out_shape": [*(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays), *operands],
        "input_output_aliases": {NUM_DATA + place: place for place in range(len(arrays))},
    }
    if interpret:
        kernel = partial(_kernel, sizes=sizes, barrier=lambda: None, rounding=float16.ANYWHERE)
        return pl.pallas_call(kernel, interpret=True, **given)
    if jax.default_backend() != "gpu":
        raise UsageError("training_kernel=fused needs a GPU")
    try:
        from jax.experimental.pallas import triton  # deprecated in JAX 0.11, and may be gone later
    except ImportError as error:
        raise UsageError("training_kernel=fused needs a JAX that has Pallas for Triton") from error
    return pl.pallas_call(
        partial(_kernel, sizes=sizes, barrier=triton.debug_barrier, rounding=float16.in_triton(triton)),
        name="fused_training",
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        **given,
    )


def _kernel(contexts, scales, actions, rewards, rates, limit, *arrays, sizes, barrier, rounding):
    """All steps of one network. Weights and mean squares live in the outputs, which stay in the cache."""
    weights, squares, operands = arrays[6:9], arrays[9:12], arrays[12:]
    for weight, operand in zip(weights, operands, strict=True):
        operand[...] = float16.rounded(weight[...])

    def one_step(step, _):
        barrier()  # the weights of the step before are written
        total = _gradients(contexts, scales, actions, rewards, operands, step, rounding)
        total = [jnp.where(_trained(part.shape, *size), part, 0.0) for part, size in zip(total, sizes, strict=True)]
        norm = jnp.sqrt(sum(jnp.sum(part * part) for part in total))
        factor = jnp.where(norm < jnp.inf, limit[0] / jnp.maximum(norm, limit[0]), jnp.nan)
        rate = rates[step]
        barrier()  # nobody reads the old weights any more
        for gradient, weight, square, operand in zip(total, weights, squares, operands, strict=True):
            square_now = 0.9 * square[...] + (0.1 * factor * factor) * (gradient * gradient)  # `training.rms_direction`
            square[...] = square_now
            weight_now = weight[...] - (rate * factor) * (gradient * jax.lax.rsqrt(square_now + 1e-10))
            weight[...] = weight_now
            operand[...] = float16.rounded(weight_now)
        return 0

    jax.lax.fori_loop(0, rates.shape[0], one_step, 0)


def _gradients(contexts, scales, actions, rewards, operands, step, rounding):
    """The gradient of the mean squared error of one batch, in the shapes of the weights."""
    batch = rewards.shape[1]
    first, second, last = (operand[...] for operand in operands)  # held in shared memory
    action = jax.lax.broadcasted_iota(jnp.int32, (ROWS, OUTPUTS), 1)

    def add(block, state):
        """The gradients are sums in a unit, a power of two, which grows with the largest error so far."""
        unit_before, *sums = state
        examples = pl.ds(block * ROWS, ROWS)
        inputs = contexts[step, examples, :]
        scale, played, reward = (each[step, examples][:, None] for each in (scales, actions, rewards))
        lower = rounding.relu(_product(inputs, first))
        upper = rounding.relu(_product(lower, second))
        error = jnp.where(action == played, scale * _product(upper, last) - reward, 0.0) * scale
        unit, inverse = float16.power_of_two(jnp.maximum(unit_before, HEADROOM * jnp.max(jnp.abs(error))))
        first_sum, second_sum, last_sum = (part * (unit_before * inverse) for part in sums)
        delta = (error * inverse).astype(jnp.float16)
        last_sum += _product(upper, delta, (0, 0))
        delta = rounding.where_positive(upper, _product(delta, last, (1, 1)))
        second_sum += _product(lower, delta, (0, 0))
        delta = rounding.where_positive(lower, _product(delta, second, (1, 1)))
        first_sum += _product(inputs, delta, (0, 0))
        return unit, first_sum, second_sum, last_sum

    zeros = (jnp.zeros(operand.shape, jnp.float32) for operand in operands)
    unit, *sums = jax.lax.fori_loop(0, batch // ROWS, add, (jnp.float32(2.0**-100), *zeros))
    return [part * (unit * (2.0 / batch)) for part in sums]


def _product(left: jax.Array, right: jax.Array, over: tuple[int, int] = (1, 0)) -> jax.Array:
    return jax.lax.dot_general(left, right, (((over[0],), (over[1],)), ((), ())), preferred_element_type=jnp.float32)


def _trained(shape: tuple[int, ...], inputs: int, outputs: int) -> jax.Array:
    """Which entries of a padded array are weights, or biases in the row below."""
    row, column = (jax.lax.broadcasted_iota(jnp.int32, shape, axis) for axis in (0, 1))
    return (row <= inputs) & (column < outputs)
