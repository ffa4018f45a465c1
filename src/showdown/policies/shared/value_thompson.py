"""Thompson policies whose draws are independent Student-t values: the law of their actions can be integrated."""

from __future__ import annotations

from abc import abstractmethod

import jax

from showdown.beliefs.belief import Values
from showdown.posteriors.probability_of_best import MOST, largest
from showdown.protocol.policy import State, Thompson


class ValueThompson(Thompson):
    """`scores` must draw from the law that `values` gives."""

    @abstractmethod
    def values(self, state: State, context: jax.Array) -> Values:
        """The law of every action's value."""

    def means(self, key: jax.Array, state: State, context: jax.Array) -> jax.Array:
        return self.values(state, context).mean

    def probabilities(
        self, state: State, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array | None:
        if len(available) > MOST:
            return None
        return largest(*self.values(state, context), available)
