# %% [markdown]
# # Write a policy
# A method is a small value with pure functions: `init` makes a state, `scores` says what each action is worth now, and
# `update` learns. This one is UCB (upper confidence bound): play the action whose mean reward *could* be the largest.
# It ignores the context, so we know beforehand where it must fail.

# %%
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import config, log, non_negative, param
from showdown.policies.wrappers import WarmUp
from showdown.protocol.policy import Greedy


class Counts(NamedTuple):
    total: jax.Array  # (num_actions,)
    pulls: jax.Array  # (num_actions,)


@config
class MeanUCB(Greedy):
    """The mean reward of each action, plus a bonus that shrinks as it is played."""

    width: float = param(1.0, "size of the bonus; 0 is greedy", non_negative, log(1e-2, 10))

    def init(self, key, spec):
        return Counts(jnp.zeros(spec.num_actions), jnp.zeros(spec.num_actions))

    def scores(self, key, state, situation):
        pulls = jnp.maximum(state.pulls, 1.0)
        steps = situation.step.astype(jnp.float32)
        return state.total / pulls + self.width * jnp.sqrt(jnp.log1p(steps) / pulls)

    def update(self, key, state, situation, action, reward):
        return Counts(state.total.at[action].add(reward), state.pulls.at[action].add(1.0))


mine = WarmUp(inner=MeanUCB())

# %% [markdown]
# ## Check it first
# The contract is tried at tiny sizes: shapes and types that stay, actions that are available, the same numbers
# whatever is played beside it, and more. A fault is one sentence.

# %%
from showdown.testing import check_policy

check_policy(mine)
print("the contract holds")

# %% [markdown]
# ## Play it
# Twenty trials are one compiled program. On a problem where the context decides, a method that ignores it is at best
# the best fixed action. Regret is in per cent of playing at random. A policy is a value, so a variation is one too.

# %%
from dataclasses import replace

import showdown as sd

greedy = replace(mine, inner=replace(mine.inner, width=0.0))
results = sd.run({"MeanUCB": mine, "greedy": greedy, "LinFullPost": "LinFullPost"}, "linear", trials=20, horizon=1000)
results

# %% [markdown]
# `greedy` did not compile again: floats are arguments of the program.
#
# ## Use it everywhere
# Kept in a file that ends in `policies.add("MeanUCB", WarmUp(inner=MeanUCB()))`, it is in every command:
# `showdown check my_policy.py`, `showdown run --load my_policy.py --policies MeanUCB,Uniform`, `showdown tune MeanUCB
# --load my_policy.py --on linear`. All fields of the protocol, methods that train on the past, and actions with
# features: [Write a policy](../write-a-policy.md).
