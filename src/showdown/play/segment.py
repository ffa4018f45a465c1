"""One segment of one trial: a few hundred to a few thousand steps, and what was measured in them.

The contexts and rewards of a segment are produced in one batched call, then its blocks are scanned: `refit_every`
interactions, one refit, again. Segments all have one length, so the last one may play steps beyond the horizon; they
are not counted.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.play.block import Past, Player, RoleKeys, StepKeys, play_block
from showdown.play.late import play_late
from showdown.protocol.feedback import AT_ONCE, Feedback
from showdown.protocol.policy import Policy, all_finite
from showdown.protocol.problem import Episode, Problem, ProblemSpec, Round, Tables

SEGMENT_STEPS = 1000  # for policies that never refit
SEGMENT_REFITS = 10  # for policies that do


class Played(NamedTuple):
    """What a segment reports of one trial. Only the sums over actions leave out the steps beyond the horizon.

    A metric gets the trials of a batch together, as NumPy arrays with one more axis in front: (trials, steps) where
    this says (steps,), and (trials, num_actions) where it says (num_actions,).
    """

    actions: jax.Array  # (steps,)
    reward: jax.Array  # (steps,) realised, of the chosen action
    regret: jax.Array  # (steps,) best mean of an available action minus realised reward
    expected_regret: jax.Array  # (steps,) that best mean minus the chosen action's; infinite if it was not available
    action_rewards: jax.Array  # (num_actions,) what each would have paid in all steps; NaN: not always available
    action_optimal: jax.Array  # (num_actions,) in how many of these steps no available action had a larger mean
    valid: jax.Array  # (steps,) whether all that the problem gave was finite, and some action available
    finite: jax.Array  # () whether the state still is
    propensities: jax.Array | None = None  # (steps,) of the actions, where they are asked for


class Way(NamedTuple):
    """How a segment is played; a program is compiled for each."""

    steps: int
    spec: ProblemSpec
    feedback: Feedback
    propensities: bool  # whether those of the actions are kept


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
    way: Way,
    player: Player,
    keys: StepKeys,
    rounds: Round,
    first_step: jax.Array,
    past: Past,
) -> tuple[Player, Decided]:
    """Play a segment of one trial, from `first_step` on; `past` is what refits and late rewards look up."""
    steps, times = way.steps, _times(first_step, way.steps)
    if way.feedback != AT_ONCE:
        player, taken = play_late(policy, way.spec, way.feedback, player, times, rounds, past, way.propensities)
        return player, Decided(taken[0], all_finite(player.state), taken[1])
    block = policy.refit_every or steps
    of_segment = times, keys, rounds

    def one_block(
        player: Player, of_block: tuple[jax.Array, StepKeys, Round]
    ) -> tuple[Player, tuple[jax.Array, jax.Array | None]]:
        player, actions, chances = play_block(policy, way.spec, player, *of_block, past, way.propensities)
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
    counted = (_times(first_step, len(actions)) < horizon)[:, None]
    open_to_play = counted if rounds.available is None else counted & rounds.available
    means = rounds.means if rounds.available is None else jnp.where(rounds.available, rounds.means, -jnp.inf)
    best = means.max(axis=-1)
    chosen = partial(jnp.take_along_axis, indices=actions[:, None], axis=1)
    reward = chosen(rounds.rewards)[:, 0]
    return Played(
        actions=actions,
        reward=reward,
        regret=best - reward,
        expected_regret=best - chosen(means)[:, 0],
        action_rewards=_sums(rounds, counted),
        action_optimal=(open_to_play & (means == best[:, None])).sum(axis=0, dtype=jnp.int32),
        valid=_valid(rounds),
        finite=finite,
    )


def _sums(rounds: Round, counted: jax.Array) -> jax.Array:
    """What each action would have paid in the steps that count, (num_actions,); NaN if it was not always available."""
    sums = jnp.where(counted, rounds.rewards, jnp.zeros_like(rounds.rewards)).sum(axis=0)
    if rounds.available is None:
        return sums
    return jnp.where((rounds.available | ~counted).all(axis=0), sums, jnp.nan)


def _valid(rounds: Round) -> jax.Array:
    """Whether all that the problem gave at each step is finite, and some action is available, (steps,)."""
    seen = [rounds.context, rounds.rewards, rounds.means]
    fine = [jnp.isfinite(array).all(axis=-1) for array in seen]
    if rounds.features is not None:
        fine.append(jnp.isfinite(rounds.features).all(axis=(-2, -1)))
    if rounds.available is not None:
        fine.append(rounds.available.any(axis=-1))
    return jnp.stack(fine).all(axis=0)
