"""Shared by all tests: constant seeds, no network, a private compilation cache, and a problem that tests script."""

from __future__ import annotations

import os
from typing import ClassVar, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.config import config
from showdown.keys import trial_keys
from showdown.policy import Policy
from showdown.problem import Problem, ProblemSpec, Round
from showdown.simulate import _programs, _segment_length, problem_identity


class Script(NamedTuple):
    contexts: np.ndarray  # (horizon, context_dim)
    rewards: np.ndarray  # (horizon, num_actions)


@config
class Scripted(Problem):
    """A problem that gives exactly what a test wrote down; every trial sees the same."""

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


@pytest.fixture
def script():
    """Call with contexts and rewards to get a problem that plays them."""

    def make(contexts, rewards) -> Scripted:
        contexts, rewards = np.asarray(contexts), np.asarray(rewards)
        # one name: the program depends on shapes alone, so all scripts of a size share it
        Scripted.scripts["the script"] = Script(contexts, rewards)
        return Scripted(script="the script", horizon=len(contexts))

    return make


class Trajectory(NamedTuple):
    actions: np.ndarray  # (trials, horizon)
    trial: object  # what the loop carried at the end


@pytest.fixture
def play():
    """Play trials through the compiled loop and return every action, which `simulate` itself only counts."""

    def run(policy: Policy, problem: Problem, *, trials: int = 2, seed: int = 0) -> Trajectory:
        tables = jax.device_put(problem.load())
        steps = _segment_length(policy, problem.horizon, None)
        segments = -(-problem.horizon // steps)
        (start, advance), _ = _programs(policy, problem, tables, steps, segments, trials)
        identity = problem_identity(problem)
        keys = [trial_keys(seed, identity, range(trials), role) for role in ("problem", "policy")]
        trial, actions = start(policy, problem, tables, *keys), []
        for segment in range(segments):
            trial, played = advance(policy, problem, tables, trial, np.int32(segment * steps))
            actions.append(played.actions)
        return Trajectory(np.asarray(jnp.concatenate(actions, axis=1))[:, : problem.horizon], trial)

    return run
