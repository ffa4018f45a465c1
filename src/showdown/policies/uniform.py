"""Uniform: every action with equal probability. The yardstick: normalised regret divides by its mean.

Cost per step O(1), no memory. It does no warm-up.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import config
from showdown.policies.registry import policies
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec


class UniformState(NamedTuple):
    num_actions: jax.Array  # ()


@config
class Uniform(Policy):
    def init(self, key: jax.Array, spec: ProblemSpec) -> UniformState:
        return UniformState(jnp.int32(spec.num_actions))

    def act(self, key: jax.Array, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
        return jax.random.randint(key, (), 0, state.num_actions)

    def probabilities(self, state: State, context: jax.Array, step: jax.Array, available: jax.Array) -> jax.Array:
        return available.astype(jnp.float32) / available.sum().astype(jnp.float32)


policies.add("Uniform", Uniform())
