"""Play trials through the compiled loop and keep every action, which `simulate` itself only counts."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from showdown.play.block import Player
from showdown.play.prepared import prepare
from showdown.play.programs import compiled
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem

TRIALS = 2  # of every check, so that they share programs


class Trajectory(NamedTuple):
    actions: np.ndarray  # (trials, horizon)
    players: Player  # what the policy carried at the end, in each trial


def play(policy: Policy, problem: Problem, *, trials: int = TRIALS, seed: int = 0) -> Trajectory:
    setting = prepare(policy, problem, trials=trials)
    programs, _ = compiled(setting, trials)
    arguments, actions = (policy, problem, setting.tables), []
    episodes, players = programs.start(*arguments, *setting.keys(seed, range(trials)))
    for segment in range(setting.segments):
        players, played = programs.play(*arguments, episodes, players, np.int32(segment * setting.steps))
        actions.append(played.actions)
    return Trajectory(np.asarray(jnp.concatenate(actions, axis=1))[:, : problem.horizon], players)
