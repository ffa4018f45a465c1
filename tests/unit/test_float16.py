"""float16 for the products of a kernel: rounding, scaling, and what is out of range."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.tricks import float16

VALUES = np.array(
    [[0, 1, -1, 1 / 3, 1e-8, 6e-8, 65504, 65519], [65520, 1e6, -1e6, -65520, np.inf, -np.inf, np.nan, -0.1]], np.float32
)
UNITS = np.array([[1, 0, 2, 0, 6e-8, 3, 1, 1], [1, 1, 1, 0, 1, 1, 1, 1]], np.float16)
ROUNDED = np.array(
    [[0, 1, -1, 1 / 3, 0, 6e-8, 65504, 65504], [65504, 65504, -65504, -65504, 65504, -65504, np.nan, -0.1]], np.float16
)


def test_what_is_too_large_becomes_the_largest_number():
    np.testing.assert_array_equal(float16.rounded(VALUES), ROUNDED)
    np.testing.assert_array_equal(float16.ANYWHERE.relu(VALUES), np.maximum(ROUNDED, 0))
    np.testing.assert_array_equal(float16.ANYWHERE.where_positive(UNITS, VALUES), np.where(UNITS > 0, ROUNDED, 0))


@pytest.mark.parametrize(
    ("size", "power"),
    [(1, 0), (1.99, 0), (2, 1), (0.3, -2), (2.0**-100, -100), (3e38, 126), (np.inf, 126), (np.nan, 126)],
)
def test_the_power_of_two_below(size, power):
    found, inverse = float16.power_of_two(jnp.float32(size))
    assert (found, inverse) == (2.0**power, 2.0**-power)


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU")
def test_the_instructions_of_a_gpu_do_the_same():
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    rounding = float16.in_triton(triton)

    def kernel(values, units, rectified, masked):
        rectified[...] = rounding.relu(values[...])
        masked[...] = rounding.where_positive(units[...], values[...])

    values, units = (np.tile(array, (16, 4)) for array in (VALUES, UNITS))
    rectified, masked = pl.pallas_call(kernel, [jax.ShapeDtypeStruct(values.shape, jnp.float16)] * 2)(values, units)
    np.testing.assert_array_equal(rectified, float16.ANYWHERE.relu(values))
    np.testing.assert_array_equal(masked, float16.ANYWHERE.where_positive(units, values))
