"""The steps of a trial whose rewards are known, for policies that train on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp

from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch


@dataclass(frozen=True)
class History:
    """The rewards learned so far, in the order they came, with what was seen and done.

    Contexts and features are looked up by row, never copied per trial.
    """

    spec: ProblemSpec
    count: jax.Array  # () how many rows are filled
    actions: jax.Array  # (capacity,)
    rewards: jax.Array  # (capacity,)
    contexts_at: Callable[[jax.Array], jax.Array]  # (size,) rows -> (size, context_dim)
    features_at: Callable[[jax.Array], jax.Array] | None = None  # (size,) rows -> (size, action_dim) of those played
    first: jax.Array | int = 0  # how many rewards came before the first row: of a history that begins later
    others: jax.Array | int = 0  # how many came in between that are not kept: of a sample
    forced: jax.Array | bool = False  # whether to train now, whatever a schedule says: after a history of others
    valid_from: jax.Array | int = 0  # rows before this one are of a world that is no more; only some policies set it

    @property
    def learned(self) -> jax.Array:
        """How many rewards were learned so far, kept or not: what a schedule counts."""
        return self.first + self.count + self.others

    def at(self, rows: jax.Array) -> Batch:
        features = None if self.features_at is None else self.features_at(rows)
        return Batch(self.contexts_at(rows), self.actions[rows], self.rewards[rows], features)

    def sample(self, key: jax.Array, size: int) -> Batch:
        """Uniform with replacement from all rows so far."""
        return self.at(self.some_rows(key, size))

    def some_rows(self, key: jax.Array, size: int) -> jax.Array:
        """Numbers of valid rows so far, uniform with replacement, (size,)."""
        return jax.random.randint(key, (size,), self.valid_from, jnp.maximum(self.count, 1))

    def since(self, row: jax.Array) -> History:
        """The same with those rows alone valid that come from `row` on; the last one always is."""
        return replace(self, valid_from=jnp.clip(row, 0, jnp.maximum(self.count - 1, 0)))

    def last(self, rows: int) -> History:
        """The last `rows` of it, or all where there are fewer."""
        if rows >= self.actions.shape[0]:
            return self
        first = jnp.maximum(self.count - rows, 0)

        def shifted(look_up: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
            return lambda wanted: look_up(wanted + first)

        return replace(
            self,
            count=jnp.minimum(self.count, rows),
            actions=jax.lax.dynamic_slice_in_dim(self.actions, first, rows),
            rewards=jax.lax.dynamic_slice_in_dim(self.rewards, first, rows),
            contexts_at=shifted(self.contexts_at),
            features_at=None if self.features_at is None else shifted(self.features_at),
            first=self.first + first,
            valid_from=jnp.maximum(self.valid_from - first, 0),
        )

    @property
    def owners(self) -> jax.Array:
        """The set of coefficients that each row is about, (capacity,)."""
        return self.spec.owner(self.actions)

    @property
    def valid_owners(self) -> jax.Array:
        """The same, with `num_outputs` for rows that are not valid."""
        valid = jnp.arange(self.actions.shape[0]) >= self.valid_from
        return jnp.where(valid, self.owners, self.spec.num_outputs)
