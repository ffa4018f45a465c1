"""The compiled programs of an agent. All agents of one kind of policy and one size share them.

A program that changes the state gives the old one back where the new one would not be finite, and says so.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from showdown.play import block
from showdown.play.block import RoleKeys
from showdown.play.propensity import law
from showdown.play.score_chunks import at_once
from showdown.protocol.policy import History, Policy, State, all_finite


@jax.jit
def act(policy: Policy, key: jax.Array, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
    return block.act(policy, RoleKeys.of(key), state, context, step)


@jax.jit
def act_among(
    policy: Policy, key: jax.Array, state: State, context: jax.Array, step: jax.Array, available: jax.Array
) -> jax.Array:
    return policy.act_among(jax.random.fold_in(RoleKeys.of(key).act, step), state, context, step, available)


@partial(jax.jit, static_argnames="num_actions")
def act_many(
    policy: Policy, key: jax.Array, state: State, contexts: jax.Array, steps: jax.Array, *, num_actions: int
) -> jax.Array:
    """What `act` would choose for each context at its step, with nothing learned in between."""
    keys, together = RoleKeys.of(key), at_once(num_actions)
    return jax.lax.map(lambda row: block.act(policy, keys, state, *row), (contexts, steps), batch_size=together)


probabilities = jax.jit(law, static_argnames="draws")


@partial(jax.jit, donate_argnums=2)
def update(
    policy: Policy,
    key: jax.Array,
    state: State,
    context: jax.Array,
    action: jax.Array,
    reward: jax.Array,
    step: jax.Array,
) -> tuple[State, jax.Array]:
    return kept_finite(state, block.update(policy, RoleKeys.of(key), state, context, action, reward, step))


@jax.jit
def update_many(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: jax.Array,
    actions: jax.Array,
    rewards: jax.Array,
    first: jax.Array,
    count: jax.Array,
) -> tuple[State, jax.Array]:
    """Learn from the first `count` rows, one after the other; whether what comes out is finite."""
    keys = RoleKeys.of(key)

    def one(row: jax.Array, state: State) -> State:
        return block.update(policy, keys, state, contexts[row], actions[row], rewards[row], first + row)

    state = jax.lax.fori_loop(0, count, one, state)
    return state, all_finite(state)


@partial(jax.jit, donate_argnums=2)
def refit(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: jax.Array,
    actions: jax.Array,
    rewards: jax.Array,
    count: jax.Array,
    step: jax.Array,
) -> tuple[State, jax.Array]:
    """Refit to the first `count` rows; `step` is the number of the last observation, whichever rows were kept."""
    history = History(count, actions, rewards, lambda steps: contexts[steps])
    return kept_finite(state, block.refit(policy, RoleKeys.of(key), state, history, step))


def kept_finite(old: State, new: State) -> tuple[State, jax.Array]:
    fine = all_finite(new)
    return jax.tree.map(lambda after, before: jnp.where(fine, after, before), new, old), fine


@jax.jit
def copied(state: State) -> State:
    """A state of its own memory: that of a live agent is given away at the next update."""
    return jax.tree.map(jnp.copy, state)
