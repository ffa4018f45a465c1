"""With what probability an action is taken: in closed form, or as a share of draws with its error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SMALLEST = 1e-12


class Probabilities(NamedTuple):
    values: np.ndarray  # (num_actions,) of each action, in the order of the actions
    errors: np.ndarray  # (num_actions,) standard errors; 0 where they are exact
    draws: int  # of the policy that they are estimated from; 0 where they are exact

    @classmethod
    def of(cls, values: np.ndarray, draws: int) -> Probabilities:
        """The error is the deviation of Beta(1 + times, 1 + draws − times): it is not 0 for what was never drawn."""
        if not draws:
            return cls(values, np.zeros_like(values), 0)
        times = values * draws
        errors = np.sqrt((1 + times) * (1 + draws - times) / (draws + 3)) / (draws + 2)
        return cls(values, errors, draws)

    def taken(self, action: int) -> tuple[float, float]:
        """The propensity of an action that was taken, and its error.

        The action itself counts as one more draw, so that the propensity of what happened is never 0; nor is one that
        was integrated and is too small for its float32.
        """
        value = max(float(self.values[action]), SMALLEST if not self.draws else 0.0)
        if self.draws:
            value = (1 + value * self.draws) / (1 + self.draws)
        return value, float(self.errors[action])
