"""A complete policy in one file: Thompson sampling that ignores the context.

showdown run --load examples/my_policy.py --policies Uniform,GaussianBandit,LinFullPost
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import config, log, param, positive
from showdown.policies import policies
from showdown.policies.wrappers import WarmUp
from showdown.protocol.policy import Thompson


class Counts(NamedTuple):
    total: jax.Array  # (num_actions,)
    pulls: jax.Array  # (num_actions,)


@config
class GaussianBandit(Thompson):
    """Thompson sampling that ignores the context."""

    noise: float = param(1.0, "standard deviation of rewards", positive, log(0.01, 100))

    def init(self, key, spec):
        return Counts(jnp.zeros(spec.num_actions), jnp.zeros(spec.num_actions))

    def scores(self, key, state, situation):
        mean = state.total / (1 + state.pulls)
        return mean + self.noise / jnp.sqrt(1 + state.pulls) * jax.random.normal(key, mean.shape)

    def update(self, key, state, situation, action, reward):
        return Counts(state.total.at[action].add(reward), state.pulls.at[action].add(1))


policies.add("GaussianBandit", WarmUp(inner=GaussianBandit()))
