"""What a council keeps of its decisions: who decided and how well members predicted, for each doubling of steps."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.policies.shared.members import DOUBLINGS


class Timeline(NamedTuple):
    """Who decided, and why, by part of the timeline."""

    decided: jax.Array  # (DOUBLINGS, members) sum of each member's share
    errors: jax.Array  # (DOUBLINGS, members) sum of its squared errors
    squares: jax.Array  # (DOUBLINGS,) sum of squared rewards

    @classmethod
    def start(cls, members: int) -> Timeline:
        return cls(jnp.zeros((DOUBLINGS, members)), jnp.zeros((DOUBLINGS, members)), jnp.zeros(DOUBLINGS))

    def continued(self, seen: jax.Array, shares: jax.Array, errors: jax.Array, reward: jax.Array) -> Timeline:
        """After one more step that members decided with these shares, with `seen` steps before it."""
        part = part_of(seen)
        return Timeline(
            decided=self.decided.at[part].add(shares),
            errors=self.errors.at[part].add(errors),
            squares=self.squares.at[part].add(reward**2),
        )

    def shares_and_errors(self, names: list[str]) -> dict[str, jax.Array]:
        """Each member's share of decisions, and its squared error as a part of the mean squared reward."""
        shares = self.decided / jnp.maximum(self.decided.sum(axis=-1, keepdims=True), 1.0)
        parts = self.errors / jnp.where(self.squares > 0, self.squares, 1.0)[:, None]
        named = list(enumerate(names))
        return {f"share of {name}": shares[:, number] for number, name in named} | {
            f"error of {name}": parts[:, number] for number, name in named
        }


def part_of(seen: jax.Array) -> jax.Array:
    """The part of the timeline that comes after so many steps, ()."""
    return jnp.clip(jnp.floor(jnp.log2(seen + 1)).astype(jnp.int32), 0, DOUBLINGS - 1)
