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

from showdown.play.propensity import taken_probability
from showdown.protocol.keys import role_key
from showdown.protocol.policy import History, Policy, State
from showdown.protocol.problem import ProblemSpec, Round
from showdown.protocol.situation import Situation
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


def act(policy: Policy, keys: RoleKeys, state: State, situation: Situation) -> jax.Array:
    return policy.act(jax.random.fold_in(keys.act, situation.step), state, situation)


def update(
    policy: Policy, keys: RoleKeys, state: State, situation: Situation, action: jax.Array, reward: jax.Array
) -> State:
    """Learn one reward; `situation.step` is how many were learned before."""
    return policy.update(jax.random.fold_in(keys.update, situation.step), state, situation, action, reward)


def refit(policy: Policy, keys: RoleKeys, state: State, history: History, last: jax.Array | None = None) -> State:
    """`last` is the number of the last reward learned; it need be given only where `history` does not hold them all."""
    number = history.count - 1 if last is None else last
    return policy.refit(jax.random.fold_in(keys.refit, number), state, history)


class Player(NamedTuple):
    """All that a policy carries through one trial; what the problem carries is its episode."""

    key: jax.Array
    state: State
    actions: jax.Array  # (capacity,) what was played, empty where neither a refit nor a late reward needs it
    rewards: jax.Array  # (capacity,)
    features: jax.Array  # (capacity, action_dim) of what was played: to draw those of a thousand items again is slow


def start_player(policy: Policy, key: jax.Array, spec: ProblemSpec, capacity: int, late: bool = False) -> Player:
    """The player before its first step, with room for `capacity` steps if the policy refits or rewards come late."""
    kept = capacity if policy.refit_every or late else 0
    features = jnp.zeros((kept, spec.action_dim), jnp.float32)
    return Player(key, init(policy, key, spec), jnp.zeros(kept, jnp.int32), jnp.zeros(kept, jnp.float32), features)


class Past(NamedTuple):
    """Where the past is looked up: what was seen in some steps of a trial."""

    contexts_at: Callable[[jax.Array], jax.Array]  # (size,) steps -> (size, context_dim)
    features_at: Callable[[jax.Array], jax.Array]  # (size,) steps -> (size, num_actions, action_dim)

    def history(self, spec: ProblemSpec, count: jax.Array, player: Player) -> History:
        """The first `count` steps, whose rewards are all known."""
        features_at = (lambda steps: player.features[steps]) if spec.action_dim else None
        return History(spec, count, player.actions, player.rewards, self.contexts_at, features_at)


def remembered(player: Player, rounds: Round, first: jax.Array, actions: jax.Array, rewards: jax.Array) -> Player:
    """The player that keeps what was done in these rounds, from step `first` on."""
    features = player.features
    if rounds.features is not None:
        played = jnp.take_along_axis(rounds.features, actions[:, None, None], axis=1)[:, 0]
        features = jax.lax.dynamic_update_slice(features, played, (first, jnp.int32(0)))
    return player._replace(
        actions=jax.lax.dynamic_update_slice(player.actions, actions, (first,)),
        rewards=jax.lax.dynamic_update_slice(player.rewards, rewards, (first,)),
        features=features,
    )


def play_block(
    policy: Policy,
    spec: ProblemSpec,
    player: Player,
    times: jax.Array,
    keys: StepKeys,
    rounds: Round,
    past: Past,
    propensities: bool = False,
) -> tuple[Player, jax.Array, jax.Array | None]:
    """Play the steps `times` of one trial, then refit if the policy does.

    Returns the actions too, (steps,), and their propensities where they are asked for.
    """

    def chance(state: State, situation: Situation, action: jax.Array) -> jax.Array | None:
        return taken_probability(policy, player.key, state, situation, action) if propensities else None

    def choose(early: tuple[jax.Array, jax.Array], late: tuple[State, Round]) -> jax.Array:
        (words, step), (state, round) = early, late
        return policy.act(key_of(words), state, Situation.of(round, step, spec))

    def one_step(
        state: State, inputs: tuple[jax.Array, StepKeys, Round, list[jax.Array]]
    ) -> tuple[State, tuple[Any, ...]]:
        step, words, round, drawn = inputs
        situation = Situation.of(round, step, spec)
        action = parts.later(drawn, (state, round))
        reward = round.rewards[action]
        taken = action, reward, chance(state, situation, action)
        return policy.update(key_of(words.update), state, situation.learned(step), action, reward), taken

    state = player.state
    if policy.learns_only_at_refits:  # nothing changes within a block, so all its contexts are decided at once
        situations = Situation.of(rounds, times, spec)
        actions = jax.vmap(lambda words, situation: policy.act(key_of(words), state, situation))(keys.act, situations)
        rewards = jnp.take_along_axis(rounds.rewards, actions[:, None], axis=1)[:, 0]
        chances = jax.vmap(partial(chance, state))(situations, actions)
    else:
        early = keys.act, times
        parts = split(choose, jax.tree.map(itemgetter(0), early), (state, jax.tree.map(itemgetter(0), rounds)))
        drawn = jax.vmap(parts.ahead)(early)
        state, (actions, rewards, chances) = jax.lax.scan(one_step, state, (times, keys, rounds, drawn))
    if policy.refit_every:
        player = remembered(player, rounds, times[0], actions, rewards)
        state = refit(policy, RoleKeys.of(player.key), state, past.history(spec, times[-1] + 1, player))
    return player._replace(state=state), actions, chances
