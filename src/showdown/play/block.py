"""One block of one trial, and which random key is used where.

This is the only place that knows how a policy's key is divided: one key per role, folded with the number of the step it
is used at. `simulate` (through `segment.py`), the online `Agent` and the figures all use these functions, so the same
key gives the same decisions in each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.play.propensity import of_taken
from showdown.protocol.keys import role_key
from showdown.protocol.policy import History, Policy, State
from showdown.protocol.problem import ProblemSpec, Round
from showdown.tricks.hoisted_randomness import split
from showdown.tricks.threefry import key_of


class RoleKeys(NamedTuple):
    """The keys of one policy in one trial, by role."""

    act: jax.Array
    update: jax.Array
    refit: jax.Array

    @classmethod
    def of(cls, key: jax.Array) -> RoleKeys:
        return cls(*(role_key(key, role) for role in cls._fields))


class StepKeys(NamedTuple):
    """What `act` and `update` make of role keys at several steps; as words, which every operation of JAX can move."""

    act: jax.Array  # (steps, words)
    update: jax.Array  # (steps, words)

    @classmethod
    def of(cls, keys: RoleKeys, times: jax.Array) -> StepKeys:
        def at_each_step(role: jax.Array) -> jax.Array:
            return jax.random.key_data(jax.vmap(partial(jax.random.fold_in, role))(times))

        return cls(at_each_step(keys.act), at_each_step(keys.update))


def init(policy: Policy, key: jax.Array, spec: ProblemSpec) -> State:
    return policy.init(role_key(key, "init"), spec)


def act(policy: Policy, keys: RoleKeys, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
    return policy.act(jax.random.fold_in(keys.act, step), state, context, step)


def update(
    policy: Policy,
    keys: RoleKeys,
    state: State,
    context: jax.Array,
    action: jax.Array,
    reward: jax.Array,
    step: jax.Array,
) -> State:
    return policy.update(jax.random.fold_in(keys.update, step), state, context, action, reward)


def refit(policy: Policy, keys: RoleKeys, state: State, history: History, step: jax.Array | None = None) -> State:
    """`step` is the last one played; it need be given only where `history` does not hold every step."""
    last = history.count - 1 if step is None else step
    return policy.refit(jax.random.fold_in(keys.refit, last), state, history)


class Player(NamedTuple):
    """All that a policy carries through one trial; what the problem carries is its episode."""

    key: jax.Array
    state: State
    actions: jax.Array  # (capacity,) history, empty for policies that never refit
    rewards: jax.Array  # (capacity,)


def start_player(policy: Policy, key: jax.Array, spec: ProblemSpec, capacity: int) -> Player:
    """The player before its first step, with room for a history of `capacity` steps if the policy refits."""
    kept = capacity if policy.refit_every else 0
    return Player(key, init(policy, key, spec), jnp.zeros(kept, jnp.int32), jnp.zeros(kept, jnp.float32))


def play_block(
    policy: Policy,
    player: Player,
    times: jax.Array,
    keys: StepKeys,
    rounds: Round,
    contexts_at: Callable[[jax.Array], jax.Array],
    propensities: bool = False,
) -> tuple[Player, jax.Array, jax.Array | None]:
    """Play the steps `times` of one trial, then refit if the policy does.

    Returns the actions too, (steps,), and their propensities where they are asked for.
    """

    def chance(state: State, context: jax.Array, step: jax.Array, action: jax.Array) -> jax.Array | None:
        if not propensities:
            return None
        return of_taken(policy, player.key, state, context, step, action, rounds.rewards.shape[-1])

    def choose(early: tuple[jax.Array, jax.Array], late: tuple[State, jax.Array]) -> jax.Array:
        (words, step), (state, context) = early, late
        return policy.act(key_of(words), state, context, step)

    def one_step(
        state: State, inputs: tuple[jax.Array, StepKeys, Round, list[jax.Array]]
    ) -> tuple[State, tuple[Any, ...]]:
        step, words, (context, rewards, _), drawn = inputs
        action = parts.later(drawn, (state, context))
        reward = rewards[action]
        taken = action, reward, chance(state, context, step, action)
        return policy.update(key_of(words.update), state, context, action, reward), taken

    state = player.state
    if policy.learns_only_at_refits:  # nothing changes within a block, so all its contexts are decided at once
        decide = jax.vmap(lambda words, context, step: policy.act(key_of(words), state, context, step))
        actions = decide(keys.act, rounds.context, times)
        rewards = jnp.take_along_axis(rounds.rewards, actions[:, None], axis=1)[:, 0]
        chances = jax.vmap(partial(chance, state))(rounds.context, times, actions)
    else:
        early = keys.act, times
        parts = split(choose, jax.tree.map(itemgetter(0), early), (state, rounds.context[0]))
        drawn = jax.vmap(parts.ahead)(early)
        state, (actions, rewards, chances) = jax.lax.scan(one_step, state, (times, keys, rounds, drawn))
    if policy.refit_every:
        history = History(
            count=times[-1] + 1,
            actions=jax.lax.dynamic_update_slice(player.actions, actions, times[:1]),
            rewards=jax.lax.dynamic_update_slice(player.rewards, rewards, times[:1]),
            contexts_at=contexts_at,
        )
        state = refit(policy, RoleKeys.of(player.key), state, history)
        player = player._replace(actions=history.actions, rewards=history.rewards)
    return player._replace(state=state), actions, chances
