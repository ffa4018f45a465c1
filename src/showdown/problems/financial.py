"""Financial: which of 8 portfolios of 21 stocks gains most, from the day's price differences.

A portfolio's gain is the product of the day's differences and its weights, plus noise of standard deviation
0.01·(j + 1) for action j. Contexts are raw: the columns' standard deviations run from 0.19 to 4.35.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: published by the paper's authors; 3,713 days of 21 stocks of NYSE and Nasdaq.

Differences from the paper
1. None known. Weights, which the paper leaves open, are as in the authors' sampler: uniform on (−1, 1), each
   portfolio's scaled to unit norm.

Redrawn every trial: the weights, the noise and the order of the days.
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.problems.rows import check_horizon, shuffled
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round

NUM_ACTIONS = 8
NOISE = 0.01  # action j's rewards have standard deviation NOISE·(j + 1)


class FinancialTables(NamedTuple):
    contexts: jax.Array | np.ndarray  # (rows, context_dim) float32


class FinancialEpisode(NamedTuple):
    order: jax.Array  # (horizon,) int32 row of each step
    weights: jax.Array  # (context_dim, num_actions)
    noise_key: jax.Array


def parse(stream: BinaryIO) -> Arrays:
    import pandas

    rows = pandas.read_csv(stream, sep=" ", header=None, skiprows=1)  # the first line names the stocks
    return {"contexts": rows.to_numpy(np.float32)}


@config
class Financial(Problem):
    horizon: int = param(3_713, "steps of one trial", at_least(1))

    def load(self) -> FinancialTables:
        return FinancialTables(**parsed("financial", parse))

    def spec(self, tables: FinancialTables) -> ProblemSpec:
        check_horizon(self.horizon, tables.contexts.shape[0])
        return ProblemSpec(tables.contexts.shape[1], NUM_ACTIONS)

    def longest(self, tables: FinancialTables) -> int:
        return tables.contexts.shape[0]

    def begin(self, key: jax.Array, tables: FinancialTables) -> FinancialEpisode:
        rows, context_dim = tables.contexts.shape
        weights = jax.random.uniform(role_key(key, "weights"), (context_dim, NUM_ACTIONS), minval=-1, maxval=1)
        weights /= jnp.linalg.norm(weights, axis=0)
        order = shuffled(role_key(key, "order"), rows, self.horizon)
        return FinancialEpisode(order, weights, role_key(key, "noise"))

    def context(self, step: jax.Array, episode: FinancialEpisode, tables: FinancialTables) -> jax.Array:
        return tables.contexts[episode.order[step]]

    def round(self, step: jax.Array, episode: FinancialEpisode, tables: FinancialTables) -> Round:
        context = self.context(step, episode, tables)
        means = jnp.einsum("d,dk->k", context, episode.weights, precision="highest")
        noise = jax.random.normal(jax.random.fold_in(episode.noise_key, step), (NUM_ACTIONS,))
        deviations = NOISE * jnp.arange(1, NUM_ACTIONS + 1, dtype=jnp.float32)
        return Round(context, means + deviations * noise, means)


problems.add("financial", Financial())
