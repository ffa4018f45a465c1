"""Thompson policies whose draws are Student-t values: the law of their actions can be integrated.

Not where actions have features: their draws are then correlated.
"""

from __future__ import annotations

from abc import abstractmethod

import jax

from showdown.beliefs.belief import Values
from showdown.posteriors.probability_of_best import MOST, largest
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
