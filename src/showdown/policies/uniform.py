"""Uniform: every action with equal probability. The yardstick: normalised regret divides by its mean.

Cost per step O(1), no memory. It does no warm-up.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.config import config
from showdown.policies.registry import policies
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work


@config
class Uniform(Policy):
    sees_action_features = True  # and ignores them

    def init(self, key: jax.Array, spec: ProblemSpec) -> tuple[()]:
        return ()

    def act(self, key: jax.Array, state: tuple[()], situation: Situation) -> jax.Array:
        return situation.uniform(key)

    def probabilities(self, state: tuple[()], situation: Situation) -> jax.Array:
        return situation.mask.astype(jnp.float32) / situation.mask.sum().astype(jnp.float32)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return Work("linear", horizon, 0)


policies.add("Uniform", Uniform())
