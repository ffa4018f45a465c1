"""What each program of `programs.py` does, for all trials of a batch and, in a population, for all its policies.

`vmap` over the trials, and once more over the policies: the population is the outer axis.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax

from showdown.play.block import Past, Player, StepKeys, start_player
from showdown.play.segment import Decided, Played, Way, keys_of, measure, play_segment, rounds_of
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Episode, Problem, ProblemSpec, Round, Tables


def begin_episodes(problem: Problem, tables: Tables, keys: jax.Array) -> Episode:
    # one trial after another: beginning an episode may need far more memory than keeping it (a permutation's sort)
    return jax.lax.map(lambda key: problem.begin(key, tables), keys)


def make_rounds(
    steps: int, batch: int, problem: Problem, tables: Tables, episodes: Episode, first_step: jax.Array
) -> Round:
    def trial(episode: Episode) -> Round:
        return rounds_of(problem, tables, steps, episode, first_step)

    return jax.vmap(trial, axis_size=batch)(episodes)  # an episode may be empty


def begin_players(
    spec: ProblemSpec, capacity: int, late: bool, population: int | None, policy: Policy, keys: jax.Array
) -> Player:
    def trials(policy: Policy) -> Player:
        return jax.lax.map(lambda key: start_player(policy, key, spec, capacity, late), keys)

    return _policies(population, trials)(policy)


def make_keys(steps: int, population: int | None, keys: jax.Array, first_step: jax.Array) -> StepKeys:
    return _policies(population, jax.vmap(lambda key: keys_of(key, steps, first_step)))(keys)


def play_rounds(
    way: Way,
    population: int | None,
    policy: Policy,
    players: Player,
    keys: StepKeys,
    rounds: Round,
    first_step: jax.Array,
    *world: Any,
) -> tuple[Player, Decided]:
    """`world` is what past steps are looked up in, where that is needed: the problem, its tables and the episodes."""

    def trial(
        policy: Policy, player: Player, keys: StepKeys, rounds: Round, *episode: Episode
    ) -> tuple[Player, Decided]:
        def contexts_at(wanted: jax.Array) -> jax.Array:
            problem, tables, _ = world
            return jax.vmap(lambda step: problem.context(step, *episode, tables))(wanted)

        def features_at(wanted: jax.Array) -> jax.Array:
            problem, tables, _ = world
            return jax.vmap(lambda step: problem.action_features(step, *episode, tables))(wanted)

        return play_segment(policy, way, player, keys, rounds, first_step, Past(contexts_at, features_at))

    def trials(policy: Policy, players: Player, keys: StepKeys) -> tuple[Player, Decided]:
        return jax.vmap(partial(trial, policy))(players, keys, rounds, *world[2:])

    return _policies(population, trials)(policy, players, keys)


def measure_all(
    population: int | None,
    rounds: Round,
    first_step: jax.Array,
    horizon: jax.Array,
    actions: jax.Array,
    finite: jax.Array,
) -> Played:
    def trials(actions: jax.Array, finite: jax.Array) -> Played:
        return jax.vmap(measure, in_axes=(0, None, None, 0, 0))(rounds, first_step, horizon, actions, finite)

    return _policies(population, trials)(actions, finite)


def _policies(population: int | None, of_one: Callable[..., Any]) -> Callable[..., Any]:
    return of_one if population is None else jax.vmap(of_one)
