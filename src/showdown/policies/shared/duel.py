"""The decision of a duel, shared by the wrapper `Duel` and by `Council`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.posteriors.probability_of_best import second_larger
from showdown.protocol.situation import Situation


def duel(key: jax.Array, situation: Situation, means: jax.Array, draws: jax.Array) -> jax.Array:
    """The best available action or a random other one, whichever was drawn larger (the best, on a tie), as an int32."""
    leader = situation.best(means)
    if situation.available is None:
        count = situation.num_actions
        rival = (leader + 1 + jax.random.randint(key, (), 0, count - 1)) % count
        return jnp.where(draws[rival] > draws[leader], rival, leader).astype(jnp.int32)
    rivals = situation.available.at[leader].set(False)
    rival = jax.random.categorical(key, jnp.where(rivals, 0.0, -jnp.inf))
    return jnp.where(rivals.any() & (draws[rival] > draws[leader]), rival, leader).astype(jnp.int32)


def duel_law(values: Values, situation: Situation) -> jax.Array:
    """The probability of each action in a duel, (num_actions,), where draws are independent with these laws."""
    leader = situation.best(values.mean)
    rivals = situation.mask.at[leader].set(False)
    wins = jnp.where(rivals, second_larger(*values.law, leader), 0.0)
    wins = wins / jnp.maximum(rivals.sum(), 1).astype(jnp.float32)
    return wins.at[leader].set(1 - wins.sum())
