"""The steps of a trial that have been played, for policies that train on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Batch(NamedTuple):
    contexts: jax.Array  # (size, context_dim)
    actions: jax.Array  # (size,)
    rewards: jax.Array  # (size,)


@dataclass(frozen=True)
class History:
    """The steps played so far, for refitting. Contexts are looked up by step, never copied per trial."""

    count: jax.Array  # () how many steps are filled
    actions: jax.Array  # (capacity,)
    rewards: jax.Array  # (capacity,)
    contexts_at: Callable[[jax.Array], jax.Array]  # (size,) steps -> (size, context_dim)

    def at(self, steps: jax.Array) -> Batch:
        return Batch(self.contexts_at(steps), self.actions[steps], self.rewards[steps])

    def sample(self, key: jax.Array, size: int) -> Batch:
        """Uniform with replacement from all steps so far."""
        return self.at(jax.random.randint(key, (size,), 0, jnp.maximum(self.count, 1)))
