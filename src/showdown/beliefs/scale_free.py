"""Bayesian linear regression per action whose priors are in units of the rewards seen, so that no unit has to be set.

Let M² be the mean squared reward over all actions so far. For an action with n rewards, residual sum e and design x
with v = xᵀΣx, a value is Student-t around xᵀμ with 2a degrees of freedom, where

    a = a0 + n/2,   noise = (c·a0·M² + τ·e/2) / a,   spread² = noise·v + (f·g·M)²·h / (h + n).

- c is the prior noise in units of M²; τ < 1 tempers the noise that residuals show. Much of it is not noise that more
  exploration could average out (a wrong model, a noisy label), and Thompson sampling pays for it at every step.
- The last term is doubt that no regression has: that an action may yet pay something never seen. f is its size in units
  of M, h the pulls after which it fades, and g = (mean reward)² / (mean squared reward) of that action, near one for an
  action that has always paid the same and near zero for one whose rewards are known to vary. Without it, a problem
  whose actions all look constant until a rare prize is found (wheel-0.99) is taken as solved after a few pulls.

M² is not invariant to adding a constant to all rewards: an action that always pays 1 is in doubt by a part of 1.

Reference: docs/policies/council.md. The conjugate mathematics is that of `posteriors/regression.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import LinearBelief, Values, log_student_t
from showdown.config import config, linear, log, non_negative, param, positive
from showdown.posteriors import moments as all_at_once
from showdown.posteriors import regression
from showdown.posteriors.moments import Moments

TINY = 1e-30  # keeps a scale of zero from dividing
LEAST_SQUARE = 1e-6  # of M², in the level of an action that has only paid zeros


class ScaleFreeState(NamedTuple):
    regressions: regression.Regressions
    rows: jax.Array  # (owners,) n
    residuals: jax.Array  # (owners,) e
    rewards: jax.Array  # (owners,) sum
    squares: jax.Array  # (owners,) sum of squared rewards


class ScaleFree(LinearBelief):
    """What beliefs in units of the rewards seen share: all but the law of values."""

    prior_precision: float
    noise_shape: float
    noise_level: float

    def init(self, owners: int, dim: int) -> ScaleFreeState:
        zeros = jnp.zeros(owners)
        start = regression.prior(owners, dim, self.prior_precision)
        return ScaleFreeState(start, zeros, zeros, zeros, zeros)

    def directions(self, state: ScaleFreeState, designs: jax.Array) -> jax.Array:
        return regression.projections(state.regressions, designs)

    def observe(
        self, state: ScaleFreeState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[ScaleFreeState, jax.Array]:
        shape = self.noise_shape + state.rows[owner] / 2
        rate = self.noise_shape * self.noise_level * mean_square(state) + state.residuals[owner] / 2
        square_scale = rate / shape * (1 + regression.variance_at(state.regressions, owner, design)) + TINY
        predicted = regression.predict_at(state.regressions, owner, design)
        evidence = log_student_t(reward, predicted, square_scale, 2 * shape)
        regressions, surprise = regression.absorb(state.regressions, owner, design, reward)
        learned = ScaleFreeState(
            regressions=regressions,
            rows=state.rows.at[owner].add(1.0),
            residuals=state.residuals.at[owner].add(surprise),
            rewards=state.rewards.at[owner].add(reward),
            squares=state.squares.at[owner].add(reward**2),
        )
        return learned, jnp.where(state.rows.sum() > 0, evidence, 0.0)  # before the first reward there is no scale

    def precision(self, moments: Moments) -> jax.Array:
        return moments.gram + self.prior_precision * jnp.eye(moments.gram.shape[-1])

    def rebuild(self, state: ScaleFreeState, moments: Moments, root: jax.Array | None = None) -> ScaleFreeState:
        regressions, noise = all_at_once.posterior(moments, self.prior_precision, 0.0, 0.0, root)
        return state._replace(regressions=regressions, residuals=2 * noise.rate)

    def relearned(self, state: ScaleFreeState, moments: Moments, root: jax.Array | None = None) -> ScaleFreeState:
        """The belief of the rows in `moments` alone; designs must end in a constant 1."""
        counted = state._replace(rows=moments.rows, rewards=moments.cross[:, -1], squares=moments.square)
        return self.rebuild(counted, moments, root)


@config
class ScaleFreeLinear(ScaleFree):
    """Student-t values whose priors are in units of the root mean square reward."""

    prior_precision: float = param(
        0.01, "λ: coefficients ~ N(0, noise·I/λ), per unit of mean squared design", positive, log(1e-3, 10)
    )
    noise_shape: float = param(1.0, "a0: shape of the prior on the noise variance", positive, log(0.1, 1e3))
    noise_level: float = param(
        0.1, "c: prior noise variance, in units of the mean squared reward", positive, log(1e-2, 10)
    )
    tempering: float = param(
        0.25, "τ: part of the residual variance that counts as noise", non_negative, linear(0.0, 1.0)
    )
    doubt: float = param(
        0.2, "f: doubt about actions that never varied, in root mean square rewards", non_negative, linear(0.0, 1.0)
    )
    doubt_pulls: float = param(100.0, "h: pulls of an action after which that doubt fades", positive, log(10, 1e4))

    def values(self, state: ScaleFreeState, design: jax.Array) -> Values:
        square = mean_square(state)
        shape = self.noise_shape + state.rows / 2
        noise = (self.noise_shape * self.noise_level * square + self.tempering * state.residuals / 2) / shape
        level = state.rewards**2 / (jnp.maximum(state.rows, 1.0) * state.squares + LEAST_SQUARE * square)
        doubt = (self.doubt * level) ** 2 * square * self.doubt_pulls / (self.doubt_pulls + state.rows)
        spread = jnp.sqrt(noise * regression.variance(state.regressions, design) + doubt)
        mean = regression.predict(state.regressions, design)
        return Values(mean, spread, *(jnp.broadcast_to(each, mean.shape) for each in (2 * shape, noise)))


def mean_square(state: ScaleFreeState) -> jax.Array:
    """M²."""
    return state.squares.sum() / jnp.maximum(state.rows.sum(), 1.0) + TINY
