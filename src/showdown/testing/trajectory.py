"""Play trials through the compiled loop and keep every action, which `simulate` itself only counts.

`scripted` problems give exactly the contexts and rewards that a test wrote down; every trial sees the same.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import config
from showdown.play.block import Player
from showdown.play.prepared import prepare
from showdown.play.programs import compiled
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem, ProblemSpec, Round

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


class Script(NamedTuple):
    contexts: np.ndarray  # (horizon, context_dim)
    rewards: np.ndarray  # (horizon, num_actions)


@config
class Scripted(Problem):
    script: str  # which of `scripts` to play
    horizon: int = 24

    scripts: ClassVar[dict[str, Script]] = {}

    def load(self) -> Script:
        return Script(*(np.asarray(array, np.float32) for array in self.scripts[self.script]))

    def spec(self, tables: Script) -> ProblemSpec:
        return ProblemSpec(tables.contexts.shape[1], tables.rewards.shape[1])

    def begin(self, key: jax.Array, tables: Script) -> tuple[()]:
        return ()

    def round(self, step: jax.Array, episode: tuple[()], tables: Script) -> Round:
        return Round(tables.contexts[step], tables.rewards[step], tables.rewards[step])


def scripted(contexts: Any, rewards: Any) -> Scripted:
    """The problem with these contexts, (horizon, context_dim), and rewards, (horizon, num_actions).

    Only the latest one can be played: all of them have one name, so that those of one size share a compiled program.
    """
    Scripted.scripts["the script"] = Script(np.asarray(contexts), np.asarray(rewards))
    return Scripted(script="the script", horizon=len(contexts))
