"""The decision of a duel, shared by the wrapper `Duel` and by the first edition of `Council`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.posteriors.largest import second_larger


def duel(key: jax.Array, means: jax.Array, draws: jax.Array) -> jax.Array:
    """The leader or a random rival, whichever was drawn larger (the leader, on a tie), as an int32 scalar."""
    leader = jnp.argmax(means)
    rival = (leader + 1 + jax.random.randint(key, (), 0, means.shape[0] - 1)) % means.shape[0]
    return jnp.where(draws[rival] > draws[leader], rival, leader).astype(jnp.int32)


def duel_among(key: jax.Array, means: jax.Array, draws: jax.Array, available: jax.Array) -> jax.Array:
    """A duel between the best of the available actions and a random other one of them, if there is another."""
    leader = jnp.argmax(jnp.where(available, means, -jnp.inf))
    rivals = available.at[leader].set(False)
    rival = jax.random.categorical(key, jnp.where(rivals, 0.0, -jnp.inf))
    return jnp.where(rivals.any() & (draws[rival] > draws[leader]), rival, leader).astype(jnp.int32)


def duel_law(values: Values, available: jax.Array) -> jax.Array:
    """The probability of each action in `duel_among`, (num_actions,), where draws are independent with these laws."""
    leader = jnp.argmax(jnp.where(available, values.mean, -jnp.inf))
    rivals = available.at[leader].set(False)
    wins = jnp.where(rivals, second_larger(*values, leader), 0.0) / jnp.maximum(rivals.sum(), 1).astype(jnp.float32)
    return wins.at[leader].set(1 - wins.sum())
