"""Random numbers: the generator that is written out, and draws that are taken out of the loop."""

from __future__ import annotations

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.tricks.hoisted_randomness import MOST, split
from showdown.tricks.threefry import key_of

WORDS = np.random.default_rng(0).integers(0, 2**32, (4, 2), dtype=np.uint32)
DRAWS = {
    "uniform": lambda key: jax.random.uniform(key, (3, 4)),
    "one normal": jax.random.normal,
    "nothing": lambda key: jax.random.uniform(key, (0,)),
    "short integers": lambda key: jax.random.bits(key, (5,), jnp.uint8),
    "permutation": lambda key: jax.random.permutation(key, 50),
    "split": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))),
    "fold in": lambda key: jax.random.key_data(jax.random.fold_in(key, 2**31 - 1)),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_keys_give_the_numbers_of_jax(draw):
    theirs = jax.random.wrap_key_data(jnp.asarray(WORDS), impl="threefry2x32")
    np.testing.assert_array_equal(jax.vmap(draw)(key_of(jnp.asarray(WORDS))), jax.vmap(draw)(theirs))


def decide(early, late):
    words, step = early
    noise = jnp.sin(jax.random.normal(key_of(words), (3,))) * step
    return {"best": jnp.argmax(late["mean"] + late["width"] * noise), "scale": jnp.arange(3.0).sum() * late["width"]}


EARLY = jnp.asarray(WORDS[0]), jnp.float32(2.0)
LATE = {"mean": jnp.array([0.1, -0.2, 0.3]), "width": jnp.float32(0.5)}


def test_what_depends_on_the_key_alone_is_computed_first():
    parts = split(decide, EARLY, LATE)
    drawn = parts.ahead(EARLY)
    assert [array.shape for array in drawn] == [(3,)]  # neither the key nor the step is needed again
    assert jax.tree.map(float, parts.later(drawn, LATE)) == jax.tree.map(float, decide(EARLY, LATE))
    assert "random_bits" not in str(jax.make_jaxpr(parts.later)(drawn, LATE))


@pytest.mark.parametrize(
    "function",
    [
        lambda early, late: jnp.argmax(late["mean"]),
        lambda early, late: jnp.argmax(jax.random.normal(key_of(early[0]), (MOST + 1,)) * late["width"]),
        lambda early, late: jax.random.uniform(key_of(early[0]), (MOST + 1,)).max() * late["width"],
        lambda early, late: jax.random.bernoulli(key_of(early[0]), late["width"]),
    ],
    ids=["no chance in it", "too much to keep", "too much on the way", "a draw that needs the state"],
)
def test_nothing_is_taken_out_where_nothing_can_be(function):
    parts = split(function, EARLY, LATE)
    assert all(map(operator.is_, parts.ahead(EARLY), EARLY))
    assert float(parts.later(parts.ahead(EARLY), LATE)) == float(function(EARLY, LATE))
