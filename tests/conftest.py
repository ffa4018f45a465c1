"""Shared by all tests: constant seeds, no network, a private compilation cache, and a problem that tests script."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import ClassVar, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ.setdefault("SHOWDOWN_CACHE", tempfile.mkdtemp(prefix="showdown-tests-"))

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.config import config
from showdown.play.block import Player
from showdown.play.programs import compiled
from showdown.play.setting import prepare
from showdown.policies import policies
from showdown.policy import Policy
from showdown.problem import Problem, ProblemSpec, Round
from showdown.problems import problems
from showdown.simulate import Outcome


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
    players: Player  # what the policy carried at the end, in each trial


@pytest.fixture
def play():
    """Play trials through the compiled loop and return every action, which `simulate` itself only counts."""

    def run(policy: Policy, problem: Problem, *, trials: int = 2, seed: int = 0) -> Trajectory:
        setting = prepare(policy, problem, trials=trials)
        programs, _ = compiled(setting, trials)
        arguments, actions = (policy, problem, setting.tables), []
        episodes, players = programs.start(*arguments, *setting.keys(seed, range(trials)))
        for segment in range(setting.segments):
            players, played = programs.play(*arguments, episodes, players, np.int32(segment * setting.steps))
            actions.append(played.actions)
        return Trajectory(np.asarray(jnp.concatenate(actions, axis=1))[:, : problem.horizon], players)

    return run


ABOUT = {
    "finished": "2026-01-01T00:00:00.000+00:00",
    "versions": {"showdown": "0.0.1", "jax": "0.0.2"},
    "hardware": {"device": "abacus", "cores": 2},
}


def written_cell(policy: str, problem: str, trials: int, number: int) -> Cell:
    """A cell under any names at all; those that mean no preset stand for a configuration of their own."""
    return Cell(
        policy,
        problem,
        policies.get(policy if policy in policies else f"LinPost[prior_precision={1 + number}]"),
        problems.get(problem if problem in problems else f"wheel[noise={1 + sum(map(ord, problem))}]"),
        trials,
        0,
    )


@pytest.fixture(scope="session")
def stored():
    """Call with a folder, {(policy, problem): final regret of each trial} and {(policy, problem): (status, reason)}.

    The cells are written, not played: regret grows with the square root of time, at `checkpoints` points; `columns`
    gives those of further metrics from the final regrets.
    """

    def write(folder: Path, finished: dict, failed: dict | None = None, *, checkpoints: int = 8, columns=None) -> Path:
        store = Store(folder)
        for number, ((policy, problem), regrets) in enumerate(finished.items()):
            cell = written_cell(policy, problem, len(regrets), number)
            final = np.asarray(regrets, float)
            steps = np.linspace(0, cell.problem.horizon, checkpoints + 1)[1:].astype(int)
            curve = final[:, None] * np.sqrt(steps / steps[-1])
            outcome = Outcome(
                columns={
                    "cumulative": final,
                    "cumulative_expected": final,
                    "simple": np.sqrt(final),
                    "simple_expected": np.sqrt(final),
                    "reward": 1 - final / steps[-1],
                    "reward_fixed": np.full(len(final), 0.25),
                    "accuracy": 1 / (1 + final),
                    "accuracy_fixed": np.full(len(final), 0.5),
                    **(columns(final) if columns else {}),
                },
                curves={"curve": curve, "curve_expected": curve},
                steps=steps,
                action_counts=np.tile([3, 2, 1], (len(final), 1)),
                spec=ProblemSpec(2, 3),
                compile_seconds=1.0,
                run_seconds=0.5 + number % 7,
                batch_trials=len(final),
            )
            store.write_done(cell, [(policy, problem)], outcome, ABOUT)
        for number, ((policy, problem), (status, reason)) in enumerate((failed or {}).items()):
            cell = written_cell(policy, problem, 2, 1000 + number)
            store.write_failed(cell, [(policy, problem)], status, reason, ABOUT)
        return folder

    return write
