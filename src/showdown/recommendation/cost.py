"""What a recommended method costs in use: the time of a decision and the memory of what it learns."""

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
    """The cost of a policy, measured in this process on an agent that knows nothing yet."""
    agent = Agent(policy, **spec._asdict())
    draw, count = np.random.default_rng(0), FIRST + DECISIONS
    contexts = draw.standard_normal((count, spec.context_dim)).astype(np.float32)
    features = draw.standard_normal((count, spec.num_actions, spec.action_dim)).astype(np.float32)
    taken = []
    for context, of_actions in zip(contexts, features, strict=True):
        began = time.perf_counter()
        agent.choose(context, actions=of_actions if spec.action_dim else None)
        taken.append(time.perf_counter() - began)
    state = jax.eval_shape(lambda key: block.init(policy, key, spec), jax.random.key(0))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    return Cost(float(np.median(taken[FIRST:])), int(size))
