"""The two compiled programs of a batch of trials: one begins them, one plays a segment of them all.

Trials run in parallel by `vmap`; this is also the place where a batch can be spread over several devices. Floats of the
policy and the problem are arguments, so every preset of one structure is served by the same programs.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from showdown.keys import trial_keys
from showdown.play.block import Player, seat
from showdown.play.segment import Played, play_segment
from showdown.play.setting import Setting
from showdown.policy import Policy
from showdown.problem import Episode, Problem, Tables


class Programs(NamedTuple):
    start: Any  # (policy, problem, tables, problem keys, policy keys) -> (episodes, players)
    play: Any  # (policy, problem, tables, episodes, players, first step) -> (players, what was played)


_compiled: dict[Any, Programs] = {}


def compiled(setting: Setting, batch: int) -> tuple[Programs, float]:
    """The programs for `batch` trials, and the seconds it took to compile them: 0 if this process had them already."""
    key = _identity(setting, batch)
    if key in _compiled:
        return _compiled[key], 0.0
    began = time.perf_counter()
    arguments = setting.policy, setting.problem, setting.tables
    keys = trial_keys(0, "", range(batch), "")
    starting = jax.jit(partial(start, setting)).lower(*arguments, keys, keys)
    begun = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), starting.out_info)
    playing = jax.jit(partial(_play, setting), donate_argnums=4).lower(*arguments, *begun, np.int32(0))
    _compiled[key] = Programs(starting.compile(), playing.compile())
    return _compiled[key], time.perf_counter() - began


def _identity(setting: Setting, batch: int) -> Any:
    """All that a program depends on: structures, and the shape, dtype and weak type of every argument."""
    leaves, structure = jax.tree.flatten((setting.policy, setting.problem, setting.tables))
    kinds = tuple(map(jax.typeof, leaves))
    shape = setting.steps, setting.segments, setting.population, setting.propensities
    return structure, kinds, *shape, batch, jax.default_backend()


def start(
    setting: Setting,
    policy: Policy,
    problem: Problem,
    tables: Tables,
    problem_keys: jax.Array,
    policy_keys: jax.Array,
) -> tuple[Episode, Player]:
    # one trial after another: beginning an episode may need far more memory than keeping it (a permutation's sort)
    def players(policy: Policy) -> Player:
        return jax.lax.map(lambda key: seat(policy, key, setting.spec, setting.capacity), policy_keys)

    episodes = jax.lax.map(lambda key: problem.begin(key, tables), problem_keys)
    return episodes, jax.vmap(players)(policy) if setting.population else players(policy)


def _play(
    setting: Setting,
    policy: Policy,
    problem: Problem,
    tables: Tables,
    episodes: Episode,
    players: Player,
    first_step: jax.Array,
) -> tuple[Player, Played]:
    def trials(policy: Policy, players: Player) -> tuple[Player, Played]:
        one = partial(play_segment, policy, problem, tables, setting.steps, propensities=setting.propensities)
        return jax.vmap(one, in_axes=(0, 0, None))(episodes, players, first_step)

    return (jax.vmap(trials) if setting.population else trials)(policy, players)
