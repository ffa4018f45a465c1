"""How much to believe each of several beliefs: the weighted mean of their predictions that errs least (stacking).

Every reward is predicted by all beliefs from what they knew before it, so all are judged at every step, on the same
rewards. Of two predictions p and q of rewards r, w·p + (1 − w)·q has the least squared error with

    w = ½ + ½·(Σ(q − r)² − Σ(p − r)²) / Σ(p − q)²,   cut off at 0 and 1.

No noise of rewards is left in the divisor, so w is known soon where the two differ much, and matters little where they
do not. Of three and more, the first two are put together, then their mean and the third, and so on: exact for two, and
never worse than the best one of them for more.

Judged is the mean and not the density: a network fitted to the very history it is judged on is too sure of itself,
which a density punishes though its decisions are better. Older rewards count less: after n rewards the one at m has
weight m/n, so that a belief that improves late is noticed, without a window to set.

Stacking: Wolpert, "Stacked Generalization", Neural Networks 1992; Breiman, "Stacked Regressions", Machine Learning
1996.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

TINY = 1e-30  # keeps beliefs that have never differed from dividing


class Stack(NamedTuple):
    """What the weights of beliefs rest on."""

    errors: jax.Array  # (beliefs,) weighted sum of squared errors, each minus the mean over beliefs
    apart: jax.Array  # (beliefs, beliefs) weighted sum of squared differences of two predictions
    seen: jax.Array  # () rewards so far

    @classmethod
    def start(cls, beliefs: int) -> Stack:
        return cls(jnp.zeros(beliefs), jnp.zeros((beliefs, beliefs)), jnp.float32(0.0))

    def observe(self, predicted: jax.Array, reward: jax.Array) -> Stack:
        """After one more reward, which beliefs had predicted so, (beliefs,)."""
        keep, errors = self.seen / (self.seen + 1), (predicted - reward) ** 2
        return Stack(
            errors=keep * self.errors + errors - errors.mean(),
            apart=keep * self.apart + (predicted[:, None] - predicted) ** 2,
            seen=self.seen + 1,
        )

    def weights(self) -> jax.Array:
        """Of each belief, (beliefs,): none is negative, and they add up to 1."""
        weights = jnp.zeros_like(self.errors).at[0].set(1.0)
        error, apart = self.errors[0], self.apart[0]  # of the mean so far, and between it and each belief
        for new in range(1, len(self.errors)):
            far = apart[new]
            old = jnp.clip(0.5 + 0.5 * (self.errors[new] - error) / jnp.maximum(far, TINY), 0.0, 1.0)
            weights = (old * weights).at[new].set(1 - old)
            gained = old * (1 - old) * far  # a mean of two errs less than the two do on average
            error = old * error + (1 - old) * self.errors[new] - gained
            apart = old * apart + (1 - old) * self.apart[new] - gained
        return weights
