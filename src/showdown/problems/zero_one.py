"""Any problem as NeuralUCB and NeuralTS play it: contexts of unit length, 1 for the best action and 0 for any other.

Spelled after the name of the problem: `statlog/zero-one`, `mushroom/zero-one`, `adult-income/zero-one`. The trials are
those of the problem itself: the same rows in the same order. Regret is the number of mistakes.

Reference: Zhou, Li, Gu, "Neural Contextual Bandits with UCB-based Exploration", ICML 2020; Zhang, Zhou, Li, Gu, "Neural
Thompson Sampling", ICLR 2021.

Differences from their code
1. Columns are coded and standardised as the problem does it (mushrooms have 117 columns of zeros and ones, adults 104);
   there categories are numbers, mushrooms have 22 columns, and nothing is standardised before rows are normalised.
2. A policy sees the context once; there it sees it k times, in block a of k·d inputs for action a.
3. Mushrooms are drawn with replacement; there each of the 8,124 comes once.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.config import config, param, required
from showdown.problems.registry import problems
from showdown.problems.wrapper import ChangedProblem
from showdown.protocol.problem import Episode, Problem, Round, Tables

TINY = 1e-30


@config
class ZeroOne(ChangedProblem):
    """The trials of `inner`, with contexts of unit length and rewards of 0 and 1."""

    inner: Problem = param(required, "the problem that is played")

    @property
    def has_labels(self) -> bool:
        return True

    def context(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array:
        return _unit(self.inner.context(step, episode, tables))

    def round(self, step: jax.Array, episode: Episode, tables: Tables) -> Round:
        found = self.inner.round(step, episode, tables)
        among = found.means if found.available is None else jnp.where(found.available, found.means, -jnp.inf)
        best = jax.nn.one_hot(jnp.argmax(among), len(among))
        return found._replace(context=_unit(found.context), rewards=best, means=best)


def _unit(context: jax.Array) -> jax.Array:
    return context / jnp.maximum(jnp.sqrt(jnp.sum(context**2)), TINY)


problems.add_wrapper(
    "zero-one", lambda inner: ZeroOne(inner=inner), "contexts of unit length; the best action pays 1, any other 0"
)
