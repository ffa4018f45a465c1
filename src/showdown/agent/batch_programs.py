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
from showdown.agent.programs import Seen
from showdown.play import block
from showdown.play.block import RoleKeys
from showdown.play.propensity import law
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

ROOM = 64  # rows
MOST_PLACES = 4096  # of all decisions in one call, where actions have features: those of each are copied


def room_for(places: int, spec: ProblemSpec) -> int:
    """How many decisions among so many places one call answers."""
    return max(1, min(ROOM, MOST_PLACES // places)) if spec.action_dim else ROOM


class DecidedRows(NamedTuple):
    """What a program says of each row; those beyond `count` hold zeros."""

    actions: jax.Array  # (ROOM,) int32
    laws: jax.Array  # (ROOM, num_actions) the probability of each action
    draws: jax.Array  # (ROOM,) int32 draws that the law is the mean of; 0 where it is stated
    tied: jax.Array  # (ROOM,) bool, whether several actions had the largest score


@partial(jax.jit, static_argnames="draws")
def decide_rows(
    policy: Policy, key: jax.Array, state: State, situations: Situation, count: jax.Array, *, draws: int
) -> DecidedRows:
    """Decide in each of these situations, which have masks, with nothing learned in between."""
    keys = RoleKeys.of(key)

    def one(situation: Situation) -> DecidedRows:
        action = block.act(policy, keys, state, situation)
        own = jax.random.fold_in(keys.act, situation.step)  # the key of `act`: its scores are not computed twice
        return DecidedRows(action, *law(policy, key, state, situation, draws), is_tied(policy, own, state, situation))

    def put(row: jax.Array, made: DecidedRows) -> DecidedRows:
        each = one(jax.tree.map(lambda rows: rows[row], situations))
        return jax.tree.map(lambda all_rows, value: all_rows.at[row].set(value), made, each)

    shapes = jax.eval_shape(one, jax.tree.map(lambda rows: rows[0], situations))
    empty = jax.tree.map(lambda leaf: jnp.zeros((len(situations.step), *leaf.shape), leaf.dtype), shapes)
    return jax.lax.fori_loop(0, count, put, empty)


@partial(jax.jit, donate_argnums=2, static_argnames="spec")
def update_rows(
    policy: Policy, key: jax.Array, state: State, seen: Seen, first: jax.Array, count: jax.Array, *, spec: ProblemSpec
) -> tuple[State, jax.Array]:
    """Learn from rows one after the other, from step `first` on: from all, or from none where that is not finite."""
    return programs.kept_finite(state, programs.after_rows(policy, key, state, seen, first, count, spec))
