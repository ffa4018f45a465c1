"""Numbers in float16 for the products of a GPU kernel: scaled by powers of two, which is exact, and never infinite.

float16 has the 11 significant bits of TF32 but 5 bits of exponent instead of 8: from 2⁻¹⁴ to 65504, with fewer bits
down to 2⁻²⁴. What is larger becomes 65504; NaN stays NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

LARGEST = 65504.0


def rounded(values: jax.Array) -> jax.Array:
    return jnp.clip(values, -LARGEST, LARGEST).astype(jnp.float16)


def power_of_two(sizes: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The largest power of two that is at most the size, and its inverse; 2¹²⁶ where the size is not finite."""
    bits = jnp.minimum(jax.lax.bitcast_convert_type(sizes, jnp.int32) & 0x7F800000, 0x7E800000)
    power, inverse = (jax.lax.bitcast_convert_type(each, jnp.float32) for each in (bits, 0x7F000000 - bits))
    return power, inverse


class Rounding(NamedTuple):
    """What follows the products of a network with rectified units."""

    relu: Callable[[jax.Array], jax.Array]  # float32 -> float16, zero where negative
    where_positive: Callable[[jax.Array, jax.Array], jax.Array]  # units in float16, float32 -> float16, or zero


ANYWHERE = Rounding(
    relu=lambda values: rounded(jnp.maximum(values, 0.0)),
    where_positive=lambda units, values: jnp.where(units > 0, rounded(values), jnp.float16(0)),
)


def in_triton(triton: Any) -> Rounding:
    """The same in PTX, two numbers per instruction; Triton would take each alone, in six times the instructions."""

    def instructions(text: str, *arrays: jax.Array, registers: int) -> jax.Array:
        (result,) = triton.elementwise_inline_asm(
            text,
            args=arrays,
            constraints=",".join(["=r"] + ["r"] * registers),
            pack=2,  # two float32 are two registers, two float16 are one
            result_shape_dtypes=[jax.ShapeDtypeStruct(arrays[0].shape, jnp.float16)],
        )
        return result

    relu = "cvt.rn.relu.satfinite.f16x2.f32 $0, $2, $1;"
    where_positive = """{
        .reg .b32 ones, halves;
        mov.b32 ones, 0;
        set.gt.f16x2.f16x2 ones, $1, ones;
        cvt.rn.satfinite.f16x2.f32 halves, $3, $2;
        mul.rn.f16x2 $0, halves, ones;
    }"""
    return Rounding(
        relu=lambda values: instructions(relu, values, registers=2),
        where_positive=lambda units, values: instructions(where_positive, units, values, registers=3),
    )
