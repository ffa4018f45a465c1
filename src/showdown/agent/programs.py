"""The compiled programs of an agent. All agents of one kind of policy and one size share them.

A program that changes the state gives the old one back where the new one would not be finite, and says so.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.play import block
from showdown.play.block import RoleKeys
from showdown.play.propensity import at_once, law
from showdown.protocol.policy import History, Policy, State, all_finite
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class Seen(NamedTuple):
    """Some observations. An input is the context and, where actions have features, those of the action taken."""

    inputs: Any  # (rows, input_dim)
    actions: Any  # (rows,)
    rewards: Any  # (rows,)


class Kept(NamedTuple):
    """How the rows of a history stand to all that was learned; see `History`."""

    count: Any
    first: Any
    others: Any
    forced: Any


def learned_from(inputs: jax.Array, step: jax.Array, spec: ProblemSpec) -> Situation:
    """What `update` sees of an observation. Of the other actions' features nothing is kept."""
    if not spec.action_dim:
        return Situation(inputs, step, spec)
    context, features = inputs[: spec.context_dim], inputs[spec.context_dim :]
    return Situation(context, step, spec, None, jnp.broadcast_to(features, (spec.num_actions, spec.action_dim)))


@jax.jit
def act(policy: Policy, key: jax.Array, state: State, situation: Situation) -> jax.Array:
    return block.act(policy, RoleKeys.of(key), state, situation)


@jax.jit
def act_many(policy: Policy, key: jax.Array, state: State, situations: Situation) -> jax.Array:
    """What `act` would choose in each of these situations, with nothing learned in between."""
    keys, together = RoleKeys.of(key), at_once(situations.num_actions)
    return jax.lax.map(lambda each: block.act(policy, keys, state, each), situations, batch_size=together)


probabilities = jax.jit(law, static_argnames="draws")


@partial(jax.jit, donate_argnums=2, static_argnames="spec")
def update(
    policy: Policy,
    key: jax.Array,
    state: State,
    inputs: jax.Array,
    step: jax.Array,
    action: jax.Array,
    reward: jax.Array,
    *,
    spec: ProblemSpec,
) -> tuple[State, jax.Array]:
    situation = learned_from(inputs, step, spec)
    return kept_finite(state, block.update(policy, RoleKeys.of(key), state, situation, action, reward))


@partial(jax.jit, static_argnames="spec")
def update_many(
    policy: Policy, key: jax.Array, state: State, seen: Seen, first: jax.Array, count: jax.Array, *, spec: ProblemSpec
) -> tuple[State, jax.Array]:
    """Learn from the first `count` rows, one after the other; whether what comes out is finite."""
    state = after_rows(policy, key, state, seen, first, count, spec)
    return state, all_finite(state)


def after_rows(
    policy: Policy, key: jax.Array, state: State, seen: Seen, first: jax.Array, count: jax.Array, spec: ProblemSpec
) -> State:
    """The state after the first `count` rows, one after the other, from step `first` on."""
    keys = RoleKeys.of(key)

    def one(row: jax.Array, state: State) -> State:
        situation = learned_from(seen.inputs[row], first + row, spec)
        return block.update(policy, keys, state, situation, seen.actions[row], seen.rewards[row])

    return jax.lax.fori_loop(0, count, one, state)


@partial(jax.jit, donate_argnums=2, static_argnames="spec")
def refit(
    policy: Policy, key: jax.Array, state: State, seen: Seen, kept: Kept, last: jax.Array, *, spec: ProblemSpec
) -> tuple[State, jax.Array]:
    """Refit to the rows that are kept; `last` is the number of the last observation."""
    dim = spec.context_dim
    features_at = (lambda rows: seen.inputs[rows, dim:]) if spec.action_dim else None
    contexts_at = lambda rows: seen.inputs[rows, :dim]  # noqa: E731
    history = History(spec, kept.count, seen.actions, seen.rewards, contexts_at, features_at, *kept[1:])
    return kept_finite(state, block.refit(policy, RoleKeys.of(key), state, history, last))


def kept_finite(old: State, new: State) -> tuple[State, jax.Array]:
    fine = all_finite(new)
    return jax.tree.map(lambda after, before: jnp.where(fine, after, before), new, old), fine


@jax.jit
def copied(state: State) -> State:
    """A state of its own memory: that of a live agent is given away at the next update."""
    return jax.tree.map(jnp.copy, state)
