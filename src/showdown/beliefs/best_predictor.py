"""Which of several beliefs to follow: the one that has predicted rewards better, before they were seen.

Every reward is predicted by all beliefs from what they knew before it, so all are judged at every step, on the same
rewards. Judged is the mean and not the density: a network fitted to the very history it is judged on is too sure of
itself, which a density punishes though its decisions are better.

Let d be the squared error of a belief at one step minus the mean over beliefs. Followed is the belief with the smallest
draw of Σd + `spread`·√Σd²·N, N normal: where rewards do not yet tell which belief is better, each is followed at times.
That matters when a belief has given up an action for good and so sees nothing any more that would prove it wrong.

Older errors count less: after n rewards the one at m has weight m/n, so that a belief that improves late is noticed,
without a window to set.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors.probability_of_best import largest


class Contest(NamedTuple):
    """What the choice between members rests on."""

    sums: jax.Array  # (members,) weighted sum of d
    deviation: jax.Array  # (members,) √Σd² with the same weights; its square would overflow for rewards above 4e9
    seen: jax.Array  # () rewards so far

    @classmethod
    def start(cls, members: int) -> Contest:
        return cls(jnp.zeros(members), jnp.zeros(members), jnp.float32(0.0))

    def observe(self, errors: jax.Array, memory: float | jax.Array = jnp.inf) -> Contest:
        """After one more reward; `errors` are the squared errors of all members, (members,).

        With a finite `memory` older errors count less from then on: about that many are remembered.
        """
        keep, apart = jnp.minimum(self.seen, memory) / (jnp.minimum(self.seen, memory) + 1), errors - errors.mean()
        return Contest(keep * self.sums + apart, hypotenuse(keep * self.deviation, apart), self.seen + 1)

    def draw(self, key: jax.Array, spread: jax.Array | float) -> jax.Array:
        """The member to follow, ()."""
        return jnp.argmin(self.sums + spread * self.deviation * jax.random.normal(key, self.sums.shape))

    def law(self, spread: jax.Array | float) -> jax.Array:
        """The probability that `draw` gives each member, (members,)."""
        deviation = spread * self.deviation
        return largest(-self.sums, deviation, jnp.full_like(deviation, jnp.inf), jnp.ones(deviation.shape, bool))


def hypotenuse(one: jax.Array, other: jax.Array) -> jax.Array:
    """√(one² + other²) without the squares, which may overflow."""
    larger = jnp.maximum(jnp.abs(one), jnp.abs(other))
    unit = jnp.where(larger > 0, larger, 1.0)
    return unit * jnp.sqrt((one / unit) ** 2 + (other / unit) ** 2)
