"""Decision rules: from the estimated value of each action to the probability with which it is taken.

Those of `policies/rules.py` and a little more, in NumPy. Each is a function of the values, how many rewards were
learned before, the one setting of the rule, and which actions are available.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Law = Callable[[np.ndarray, int, float, np.ndarray], np.ndarray]


class Rule(NamedTuple):
    law: Law
    setting: str  # what its number is called
    default: float
    allowed: tuple[float, float] = (0.0, math.inf)  # the least and the most


def greedy(values: np.ndarray, learned: int, setting: float, available: np.ndarray) -> np.ndarray:
    """The first of the largest values."""
    law = np.zeros(len(values))
    law[int(np.where(available, values, -np.inf).argmax())] = 1.0
    return law


def epsilon_greedy(values: np.ndarray, learned: int, epsilon: float, available: np.ndarray) -> np.ndarray:
    """Any action with probability ε, else the largest value."""
    return (1 - epsilon) * greedy(values, learned, 0.0, available) + epsilon * available / available.sum()


def softmax(values: np.ndarray, learned: int, temperature: float, available: np.ndarray) -> np.ndarray:
    """Probabilities that grow as exp(value / temperature)."""
    scaled = np.where(available, values, -np.inf) / temperature
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


def square_cb(values: np.ndarray, learned: int, sharpness: float, available: np.ndarray) -> np.ndarray:
    """Probabilities that fall as the value falls behind the best, the more the more was learned."""
    masked = np.where(available, values, -np.inf)
    best = int(masked.argmax())
    law = np.where(available, 1 / (available.sum() + sharpness * np.sqrt(learned) * (masked[best] - values)), 0.0)
    law[best] = 0.0
    law[best] = 1.0 - law.sum()
    return law


RULES = {
    "greedy": Rule(greedy, "", 0.0),
    "epsilon-greedy": Rule(epsilon_greedy, "epsilon", 0.1, (0.0, 1.0)),
    "softmax": Rule(softmax, "temperature", 0.1, (1e-6, math.inf)),
    "SquareCB": Rule(square_cb, "sharpness", 10.0),
}
