"""Linear and sparse-linear problems: the reward of an action is its own linear function of the context, plus noise.

Contexts are standard normal in R^d; each action's coefficients are uniform on (−1, 1), scaled to unit norm, and redrawn
every trial; action j's noise has standard deviation noise·(j + 1). In the sparse version each action keeps ⌊d/3⌋ random
coordinates before scaling.

Reference: the samplers released with Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Differences from the released samplers
1. The best reward is the expected one of the best action, not its noisy draw.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, non_negative, param
from showdown.problems.registry import problems
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round, Tables


class LinearEpisode(NamedTuple):
    contexts: jax.Array  # (horizon, context_dim)
    coefficients: jax.Array  # (context_dim, num_actions)
    noise_key: jax.Array


@config
class Linear(Problem):
    context_dim: int = param(10, "d: numbers in a context", at_least(1))
    num_actions: int = param(8, "k: number of actions", at_least(2, "or there is nothing to choose"))
    noise: float = param(0.01, "action j's rewards have standard deviation noise·(j + 1)", non_negative)
    horizon: int = param(2_000, "steps of one trial", at_least(1))

    def spec(self, tables: Tables) -> ProblemSpec:
        return ProblemSpec(self.context_dim, self.num_actions)

    def begin(self, key: jax.Array, tables: Tables) -> LinearEpisode:
        shape = (self.context_dim, self.num_actions)
        coefficients = jax.random.uniform(role_key(key, "coefficients"), shape, minval=-1, maxval=1)
        coefficients *= self.support(role_key(key, "support"))
        coefficients /= jnp.linalg.norm(coefficients, axis=0)
        contexts = jax.random.normal(role_key(key, "contexts"), (self.horizon, self.context_dim))
        return LinearEpisode(contexts, coefficients, role_key(key, "noise"))

    def support(self, key: jax.Array) -> jax.Array:
        """1 where an action uses a coordinate, (context_dim, num_actions)."""
        return jnp.ones((self.context_dim, self.num_actions))

    def round(self, step: jax.Array, episode: LinearEpisode, tables: Tables) -> Round:
        context = episode.contexts[step]
        means = jnp.einsum("d,dk->k", context, episode.coefficients, precision="highest")
        noise = jax.random.normal(jax.random.fold_in(episode.noise_key, step), (self.num_actions,))
        deviations = self.noise * jnp.arange(1, self.num_actions + 1, dtype=jnp.float32)
        return Round(context, means + deviations * noise, means)

    def context(self, step: jax.Array, episode: LinearEpisode, tables: Tables) -> jax.Array:
        return episode.contexts[step]


@config
class SparseLinear(Linear):
    context_dim: int = param(10, "d: numbers in a context", at_least(3, "a third is kept"))
    num_actions: int = param(7, "k: number of actions", at_least(2, "or there is nothing to choose"))

    def support(self, key: jax.Array) -> jax.Array:
        order = jnp.argsort(jax.random.uniform(key, (self.context_dim, self.num_actions)), axis=0)
        return (order < self.context_dim // 3).astype(jnp.float32)


problems.add("linear", Linear())
problems.add("sparse-linear", SparseLinear())
