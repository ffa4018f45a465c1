"""JAX's random generator with a faster program on a CPU: the same keys give the same numbers.

Threefry mixes two words in twenty rounds. For a CPU, JAX compiles them as a loop of many small operations, which took
more than half of the time of a linear policy's step, and of compiling it. Here the rounds are written out. The numbers
are those of JAX as it is set by default (`jax_threefry_partitionable`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl, threefry_prng_impl

from showdown.tricks import plain

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)
MOST = 1 << 32  # numbers of one draw that one word can count


@partial(jax.jit, inline=True)  # outside of a program the loop below would be compiled at every call
def mix(key: jax.Array, counts: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Two random words for each count, from a key of two words."""
    schedule = key[0], key[1], key[0] ^ key[1] ^ PARITY

    def rounds(carried: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        first, second = jnp.full_like(counts, schedule[0]), counts + schedule[1]
        for group in range(5):
            for rotation in ROTATIONS[group % 2]:
                first = first + second
                second = first ^ (second << np.uint32(rotation) | second >> np.uint32(32 - rotation))
            first = first + schedule[(group + 1) % 3]
            second = second + schedule[(group + 2) % 3] + np.uint32(group + 1)
        return jnp.bool(True), first, second

    # A loop of one pass: whoever uses the words is compiled as if JAX's own loop had made them, and rounds alike.
    start = jnp.bool(False), jnp.zeros_like(counts), jnp.zeros_like(counts)
    _, first, second = jax.lax.while_loop(lambda carried: ~carried[0], rounds, start)
    return first, second


def _numbered(shape: tuple[int, ...]) -> jax.Array:
    return jax.lax.iota(np.uint32, math.prod(shape)).reshape(shape)


def _here() -> bool:
    return jax.default_backend() == "cpu" and not plain()  # for a GPU JAX writes the rounds out itself


def _random_bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    if bit_width != 32 or math.prod(shape) > MOST or not _here():
        return threefry_prng_impl.random_bits(key, bit_width, shape)
    first, second = mix(key, _numbered(shape))
    return first ^ second


def _split(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return jnp.stack(mix(key, _numbered(shape)), axis=-1) if _here() else threefry_prng_impl.split(key, shape)


def _fold_in(key: jax.Array, data: Any) -> jax.Array:
    return jnp.stack(mix(key, data.astype(np.uint32))) if _here() else threefry_prng_impl.fold_in(key, data)


THREEFRY = define_prng_impl(
    key_shape=(2,),
    seed=threefry_prng_impl.seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="threefry2x32, written out",
    tag="showdown",  # as messages of JAX about types show it: such keys do not mix with keys of jax.random.key
)


def key_of(words: jax.Array) -> jax.Array:
    """Keys from their words, (…, 2)."""
    return jax.random.wrap_key_data(words, impl=THREEFRY)


def shape_of_keys(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.eval_shape(key_of, jax.ShapeDtypeStruct((*shape, 2), np.uint32))
