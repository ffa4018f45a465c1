"""How many optimiser steps each training takes when the first ones are longer.

Training number j = 0 … J−1 takes ⌊linspace(first, last, J)[j]⌋ steps, every later one takes `last`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np


def first_steps(first: int, last: int, trainings: int) -> np.ndarray:
    """Steps of the trainings 0 … J−1."""
    return np.linspace(first, last, trainings).astype(np.int32)


def decaying_steps(number: jax.Array, *, first: int, last: int, trainings: int) -> jax.Array:
    """Steps of training `number` (counted from 0), an int32 scalar."""
    table = np.append(first_steps(first, last, trainings), np.int32(last))
    return jnp.asarray(table)[jnp.minimum(number, trainings)]
