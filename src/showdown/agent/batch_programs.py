"""The compiled programs that answer calls which wait at the same time: some decisions, or some rewards, in one call.

A program has room for `ROOM` rows and goes through the first `count` of them, so that one program serves any number.
What it does with a row is what the programs for single calls do.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.agent import programs
from showdown.agent.belief_health import is_tied
from showdown.play import block
from showdown.play.block import RoleKeys
from showdown.play.propensity import law
from showdown.protocol.policy import Policy, State

ROOM = 64  # rows


class DecidedRows(NamedTuple):
    """What a program says of each row; those beyond `count` hold zeros."""

    actions: jax.Array  # (ROOM,) int32
    laws: jax.Array  # (ROOM, num_actions) the probability of each action
    draws: jax.Array  # (ROOM,) int32 draws that the law is the mean of; 0 where it is stated
    tied: jax.Array  # (ROOM,) bool, whether several actions had the largest score


@partial(jax.jit, static_argnames="draws")
def decide_rows(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: jax.Array,
    steps: jax.Array,
    available: jax.Array,
    count: jax.Array,
    *,
    draws: int,
) -> DecidedRows:
    """Decide about each row at its step, with nothing learned in between."""
    keys = RoleKeys.of(key)

    def one(context: jax.Array, step: jax.Array, mask: jax.Array) -> DecidedRows:
        known = policy, key, state, context, step
        action = jax.lax.cond(mask.all(), lambda: programs.act(*known), lambda: programs.act_among(*known, mask))
        own = jax.random.fold_in(keys.act, step)  # the key of `act`, so that its scores are not computed twice
        return DecidedRows(action, *law(*known, mask, draws), is_tied(policy, own, state, context, mask))

    def put(row: jax.Array, made: DecidedRows) -> DecidedRows:
        each = one(contexts[row], steps[row], available[row])
        return jax.tree.map(lambda all_rows, value: all_rows.at[row].set(value), made, each)

    shapes = jax.eval_shape(one, contexts[0], steps[0], available[0])
    empty = jax.tree.map(lambda leaf: jnp.zeros((len(contexts), *leaf.shape), leaf.dtype), shapes)
    return jax.lax.fori_loop(0, count, put, empty)


@partial(jax.jit, donate_argnums=2)
def update_rows(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: jax.Array,
    actions: jax.Array,
    rewards: jax.Array,
    first: jax.Array,
    count: jax.Array,
) -> tuple[State, jax.Array]:
    """Learn from rows one after the other, from step `first` on: from all, or from none where that is not finite."""
    keys = RoleKeys.of(key)

    def one(row: jax.Array, state: State) -> State:
        return block.update(policy, keys, state, contexts[row], actions[row], rewards[row], first + row)

    return programs.kept_finite(state, jax.lax.fori_loop(0, count, one, state))
