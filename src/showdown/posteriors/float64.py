"""Float64 where it matters, inside programs whose arguments and results stay 32 bits wide.

Code traced under `with float64.enabled():` computes in float64, also inside `jit`, `vmap` and `scan`. JAX batches what
was traced later, outside that block, and would there cut products back to float32; it must therefore be set, once per
process, to give 64 bits to whoever asks for them by name. Defaults stay 32 bits wide everywhere else.

What such code returns must be 32 bits wide again, since JAX cuts 64-bit arguments of a compiled program down. A
state keeps a float64 array as a pair of float32 arrays whose unevaluated sum it is: 48 of the 53 bits, and a value that
is not finite can be seen like any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

jax.config.update("jax_explicit_x64_dtypes", "allow")


def enabled() -> contextlib.AbstractContextManager[Any]:
    return jax.enable_x64(True)


def outside() -> Callable[[], contextlib.AbstractContextManager[Any]]:
    """To be called before `enabled`: makes blocks in which the mode is what it was before.

    Problems are played in such a block: their random draws would be other numbers in float64.
    """
    return partial(jax.enable_x64, jax.config.jax_enable_x64)  # type: ignore[attr-defined]


def raised(tree: Any) -> Any:
    """Every float array as float64; call it under `enabled`."""
    return _floats(tree, lambda leaf: leaf.astype(jnp.float64))


def lowered(tree: Any) -> Any:
    """Every float array as float32."""
    return _floats(tree, lambda leaf: _rounded(leaf).astype(jnp.float32))


def _floats(tree: Any, cast: Callable[[jax.Array], jax.Array]) -> Any:
    return jax.tree.map(lambda leaf: cast(leaf) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf, tree)


def _rounded(array: jax.Array) -> jax.Array:
    """To the nearest float32, still in its own dtype.

    Said outright: XLA on a GPU takes a cast to float32 and back for nothing, and keeps the float64 it had.
    """
    return jax.lax.reduce_precision(array, exponent_bits=8, mantissa_bits=23)


def split(array: jax.Array) -> jax.Array:
    """A float64 array as a pair of float32 arrays, (2, …)."""
    high = _rounded(array)
    return jnp.stack([high.astype(jnp.float32), (array - high).astype(jnp.float32)])


def join(pair: jax.Array) -> jax.Array:
    """The float64 array that `split` cut; call it under `enabled`."""
    return pair[0].astype(jnp.float64) + pair[1].astype(jnp.float64)
