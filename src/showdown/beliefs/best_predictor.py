"""Which of several beliefs to follow: the one that has predicted rewards better, before they were seen.

Every reward is predicted by all beliefs from what they knew before it, so all are judged at every step, on the same
rewards. Judged is the mean and not the density: a network fitted to the very history it is judged on is too sure of
itself, which a density punishes though its decisions are better.

Older errors count less: after n rewards the error of the one at m has weight m/n, so that a belief that improves late
is noticed, without a window to set.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Contest(NamedTuple):
    """What the choice between members rests on."""

    errors: jax.Array  # (members,) weighted sum of squared errors
    seen: jax.Array  # () rewards so far

    @classmethod
    def start(cls, members: int) -> Contest:
        return cls(jnp.zeros(members), jnp.float32(0.0))

    @property
    def leader(self) -> jax.Array:
        """The member with the smallest error, (); the first of them on a tie."""
        return jnp.argmin(self.errors)

    def observe(self, errors: jax.Array) -> Contest:
        """After one more reward; `errors` are the squared errors of all members, (members,)."""
        keep = self.seen / (self.seen + 1)
        return Contest(keep * self.errors + errors, self.seen + 1)
