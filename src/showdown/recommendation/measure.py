"""What a method costs in use: how long an agent takes to decide and to learn, and the memory of what it has learnt."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax
import numpy as np

from showdown.agent import Agent
from showdown.play import block
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec

DECISIONS = 200  # that are timed
FIRST = 10  # that are not: the first one compiles


@dataclass(frozen=True)
class Cost:
    decide_seconds: float  # median of one decision
    state_bytes: int  # of what is learnt; policies that train on the past keep that too


def cost_of(policy: Policy, spec: ProblemSpec) -> Cost:
    """Measured on an agent that knows nothing yet, in this process."""
    agent = Agent(policy, context_dim=spec.context_dim, num_actions=spec.num_actions)
    contexts = np.random.default_rng(0).standard_normal((FIRST + DECISIONS, spec.context_dim)).astype(np.float32)
    taken = []
    for context in contexts:
        began = time.perf_counter()
        agent.choose(context)
        taken.append(time.perf_counter() - began)
    state = jax.eval_shape(lambda key: block.init(policy, key, spec), jax.random.key(0))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    return Cost(float(np.median(taken[FIRST:])), int(size))
