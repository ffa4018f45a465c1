"""One segment of one trial: a few hundred to a few thousand steps, and what was measured in them.

The contexts and rewards of a segment are produced in one batched call, then its blocks are scanned: `refit_every`
interactions, one refit, again. Segments all have one length, so the last one may play steps beyond the horizon; they
are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.play.block import Player, RoleKeys, StepKeys, play_block
from showdown.protocol.policy import Policy, all_finite
from showdown.protocol.problem import Episode, Problem, Round, Tables

SEGMENT_STEPS = 1000  # for policies that never refit
SEGMENT_REFITS = 10  # for policies that do


class Played(NamedTuple):
    """What a segment reports of one trial. Only the sums over actions leave out the steps beyond the horizon.

    A metric gets the trials of a batch together, as NumPy arrays with one more axis in front: (trials, steps) where
    this says (steps,), and (trials, num_actions) where it says (num_actions,).
    """

    actions: jax.Array  # (steps,)
    reward: jax.Array  # (steps,) realised, of the chosen action
    regret: jax.Array  # (steps,) best mean minus realised reward
    expected_regret: jax.Array  # (steps,) best mean minus the chosen action's mean
    action_rewards: jax.Array  # (num_actions,) what each action would have paid in all these steps together
    action_optimal: jax.Array  # (num_actions,) in how many of these steps no action had a larger mean
    valid: jax.Array  # (steps,) whether context, rewards and means were finite
    finite: jax.Array  # () whether the state still is
    propensities: jax.Array | None = None  # (steps,) of the actions, where they are asked for


class Decided(NamedTuple):
    """What a policy did in a segment of one trial."""

    actions: jax.Array  # (steps,)
    finite: jax.Array  # () whether its state still is
    propensities: jax.Array | None  # (steps,) of the actions, where they are asked for


def segment_length(policy: Policy, horizon: int, wanted: int | None = None) -> int:
    """Steps of one segment: a multiple of `refit_every`, and as little beyond the horizon as can be."""
    unit = policy.refit_every or 1
    target = wanted or (SEGMENT_REFITS * unit if policy.refit_every else SEGMENT_STEPS)
    if target < 1:
        raise UsageError(f"segment_steps must be at least 1, not {target}")
    segments = max(1, round(horizon / target))
    return unit * math.ceil(horizon / segments / unit)


def rounds_of(problem: Problem, tables: Tables, steps: int, episode: Episode, first_step: jax.Array) -> Round:
    """The rounds of a segment of one trial; beyond the horizon the last one is repeated."""
    times, last = _times(first_step, steps), problem.horizon - 1
    return jax.vmap(lambda step: problem.round(jnp.minimum(step, last), episode, tables))(times)


def keys_of(key: jax.Array, steps: int, first_step: jax.Array) -> StepKeys:
    """The keys of a policy in a segment of one trial."""
    return StepKeys.of(RoleKeys.of(key), _times(first_step, steps))


def play_segment(
    policy: Policy,
    steps: int,
    player: Player,
    keys: StepKeys,
    rounds: Round,
    first_step: jax.Array,
    contexts_at: Callable[[jax.Array], jax.Array],
    propensities: bool = False,
) -> tuple[Player, Decided]:
    """Play `steps` steps of one trial, from `first_step` on; `contexts_at` gives past contexts to a refit."""
    block = policy.refit_every or steps
    of_segment = _times(first_step, steps), keys, rounds

    def one_block(
        player: Player, of_block: tuple[jax.Array, StepKeys, Round]
    ) -> tuple[Player, tuple[jax.Array, jax.Array | None]]:
        player, actions, chances = play_block(policy, player, *of_block, contexts_at, propensities)
        return player, (actions, chances)

    if block == steps:
        player, taken = one_block(player, of_segment)
    else:
        by_block = jax.tree.map(lambda array: array.reshape(steps // block, block, *array.shape[1:]), of_segment)
        player, taken = jax.lax.scan(one_block, player, by_block)
    actions, chances = jax.tree.map(lambda array: array.reshape(steps), taken)
    return player, Decided(actions, all_finite(player.state), chances)


def _times(first_step: jax.Array, steps: int) -> jax.Array:
    return first_step + jnp.arange(steps, dtype=jnp.int32)


def measure(rounds: Round, first_step: jax.Array, horizon: jax.Array, actions: jax.Array, finite: jax.Array) -> Played:
    """What these actions earned and lost in the rounds of a segment of one trial."""
    counted = _times(first_step, len(actions)) < horizon
    best = rounds.means.max(axis=-1)
    chosen = partial(jnp.take_along_axis, indices=actions[:, None], axis=1)
    reward = chosen(rounds.rewards)[:, 0]
    return Played(
        actions=actions,
        reward=reward,
        regret=best - reward,
        expected_regret=best - chosen(rounds.means)[:, 0],
        action_rewards=jnp.where(counted[:, None], rounds.rewards, jnp.zeros_like(rounds.rewards)).sum(axis=0),
        action_optimal=(counted[:, None] & (rounds.means == best[:, None])).sum(axis=0, dtype=jnp.int32),
        valid=jnp.stack([jnp.isfinite(array).all(axis=-1) for array in rounds]).all(axis=0),
        finite=finite,
    )
