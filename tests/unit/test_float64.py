"""Float64 arrays kept as pairs of float32. A CPU rounds a cast as it is written: there the third test guards it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from showdown.posteriors import float64

NUMBERS = np.concatenate([np.linspace(-1, 1, 101) / 3, [0.0, 1e-20, 1e20]])


def test_a_pair_holds_48_bits():
    with float64.enabled():
        pair = jax.jit(lambda numbers: float64.split(numbers / 7))(NUMBERS)
        wanted = NUMBERS / 7
        joined = np.asarray(float64.join(pair))
    assert pair.dtype == jnp.float32
    np.testing.assert_allclose(joined, wanted, rtol=2.0**-47)
    np.testing.assert_array_equal(pair[0], wanted.astype(np.float32))
    assert np.count_nonzero(pair[1]) > 100


def test_what_is_lowered_and_raised_in_one_program_is_what_was_stored():
    with float64.enabled():
        stored = jax.jit(float64.lowered)(NUMBERS / 7)
        read = jax.jit(lambda numbers: float64.raised(float64.lowered(numbers)))(NUMBERS / 7)
        np.testing.assert_array_equal(read, np.asarray(stored, np.float64))


def test_rounding_is_said_outright():
    """A GPU's compiler takes a cast to float32 and back for nothing, so that only this can be relied on there."""
    with float64.enabled():
        for function in (float64.split, float64.lowered):
            assert "reduce_precision" in jax.jit(function).lower(NUMBERS).as_text()


def test_the_rest_of_the_library_stays_32_bits_wide():
    """Asking for 64 bits by name is the one thing that is allowed; no default changes."""
    assert jnp.asarray(np.ones(3)).dtype == jnp.float32
    assert jax.jit(lambda array: array + 1)(np.ones(3)).dtype == jnp.float32
    assert jax.random.normal(jax.random.key(0), (3,)).dtype == jnp.float32
    assert jnp.arange(3).dtype == jnp.int32
    with float64.enabled():
        assert jnp.asarray(np.ones(3)).dtype == jnp.float64
    assert jnp.zeros(3).dtype == jnp.float32
