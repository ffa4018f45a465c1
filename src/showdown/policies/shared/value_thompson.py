"""Decisions by values with a known law: Thompson policies whose draws are Student-t values, and duels of two draws.

The law of their actions can be integrated. Not where actions have features: their draws are then correlated.
"""

from __future__ import annotations

from abc import abstractmethod

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.posteriors.probability_of_best import MOST, largest, second_larger
from showdown.protocol.policy import State, Thompson
from showdown.protocol.situation import Situation


class ValueThompson(Thompson):
    """`scores` must draw from the law that `values` gives."""

    @abstractmethod
    def values(self, state: State, situation: Situation) -> Values:
        """The law of every action's value."""

    def means(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        return self.values(state, situation).mean

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        if situation.num_actions > MOST or situation.features is not None:  # shared coefficients correlate the draws
            return None
        return largest(*self.values(state, situation).law, situation.mask)


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
