"""Bayesian linear regression per action in units of the rewards seen, made for plain Thompson sampling.

Let M² be the mean squared reward over all actions so far. For an action with n rewards, residual sum e and design x
with v = xᵀΣx, a value is Student-t around xᵀμ with 2 + n degrees of freedom and

    noise = (c·M² + t·e/2) / (1 + n/2),             t = τ + (1 − τ)·k / (k + n),
    spread² = noise·v + (f·M·g^(1+n))² + (h·S·l)²,  l = (R − best)/S − 1, cut off at 0 and 1.

- c is the prior noise in units of M². t tempers the noise that residuals show: hardly for the first k rewards of an
  action, down to τ later. Much of that noise is not what exploring could average out (a wrong model, a noisy label),
  and Thompson sampling pays for it at every step; but no action must be given up for the bad luck of its first rewards.
- The second term is doubt that no regression has: that an action may yet pay something never seen. f is its size in
  units of M, and g = (mean reward)² / (mean squared reward) of that action, one for an action that has always paid the
  same. Taken to the power 1 + n it is near zero as soon as rewards have varied. Without it, a problem whose actions all
  look constant until a rare prize is found (wheel-0.99) is taken as solved after a few pulls.
- The third is hope. R and S are mean and standard deviation of all rewards so far, and best is the largest mean of an
  action in this context. Where even that lies more than S below R, nothing that is known pays here as usual, so little
  can be lost by trying something else: all actions are drawn with a spread of up to h·S. Without it, an action that was
  given up in some kind of context by mistake is never tried there again, since all others pay as little.

M² is not invariant to adding a constant to all rewards: an action that always pays 1 is in doubt by a part of 1.

Reference: docs/policies/council.md. The conjugate mathematics is that of `posteriors/regression.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.beliefs.scale_free import LEAST_SQUARE, ScaleFree, ScaleFreeState, mean_square
from showdown.config import config, linear, log, non_negative, param, positive
from showdown.posteriors import regression


@config
class TemperedLinear(ScaleFree):
    """Student-t values whose priors are in units of the root mean square reward, tempered as rewards come in."""

    noise_shape = 1.0

    prior_precision: float = param(
        0.01, "λ: coefficients ~ N(0, noise·I/λ), per unit of mean squared design", positive, log(1e-3, 10)
    )
    noise_level: float = param(
        0.03, "c: prior noise variance, in units of the mean squared reward", positive, log(1e-3, 1)
    )
    tempering: float = param(
        0.1, "τ: part of the residual variance that counts as noise, in the end", non_negative, linear(0.0, 1.0)
    )
    tempering_pulls: float = param(
        5.0, "k: pulls of an action until half of the tempering is reached", non_negative, linear(0.0, 30.0)
    )
    doubt: float = param(
        0.2, "f: doubt about actions that never varied, in root mean square rewards", non_negative, linear(0.0, 1.0)
    )

    hope: float = param(
        2.0,
        "h: spread where all actions look worse than usual, in standard deviations of rewards",
        non_negative,
        linear(0.0, 4.0),
    )

    def values(self, state: ScaleFreeState, design: jax.Array) -> Values:
        square, rows = mean_square(state), jnp.maximum(state.rows, 1.0)
        shape = self.noise_shape + state.rows / 2
        tempered = self.tempering + (1 - self.tempering) * self.tempering_pulls / (self.tempering_pulls + rows)
        noise = (self.noise_shape * self.noise_level * square + tempered * state.residuals / 2) / shape
        level = state.rewards**2 / (rows * state.squares + LEAST_SQUARE * square)
        level = jnp.minimum(level, 1.0)  # rounding must not grow with the power
        doubt = self.doubt**2 * square * level ** (2 * (1 + state.rows))
        mean = regression.predict(state.regressions, design)
        usual = state.rewards.sum() / jnp.maximum(state.rows.sum(), 1.0)
        deviation = jnp.sqrt(jnp.maximum(square - usual**2, LEAST_SQUARE * square))
        lacking = jnp.clip((usual - mean.max()) / deviation - 1, 0.0, 1.0)
        hope = (self.hope * deviation * lacking) ** 2
        spread = jnp.sqrt(noise * regression.variance(state.regressions, design) + doubt + hope)
        return Values(mean, spread, *(jnp.broadcast_to(each, mean.shape) for each in (2 * shape, noise)))
