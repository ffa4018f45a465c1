"""A problem that gives exactly the contexts and rewards that a test wrote down; every trial sees the same."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from showdown.config import config
from showdown.protocol.problem import Problem, ProblemSpec, Round


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
