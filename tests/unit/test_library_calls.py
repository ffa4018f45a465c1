"""Refits that call LAPACK in several threads of a process at the same time."""

from __future__ import annotations

import subprocess
import sys

import jax.numpy as jnp
import pytest

from showdown.config import config, override
from showdown.play import batch_size, batches
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.policies.uniform import Uniform
from showdown.problems import problems
from showdown.problems.linear import Linear

WHEEL = problems.get("wheel-0.5")
SMALL = {"hidden_layers": (4,), "training_steps": 2, "batch_size": 8, "refit_every": 10}

TWO_AGENTS = """
import threading
import numpy as np
from showdown.agent import Agent
from showdown.config import override
from showdown.policies import policies

small = {"hidden_layers": (100,), "training_steps": 1, "batch_size": 8, "refit_every": 1}
policy = override(policies.get("NeuralLinear"), small)
rows = np.zeros((50, 2)), np.zeros(50, int), np.zeros(50)
agents = [Agent(policy, context_dim=2, num_actions=10, seed=seed) for seed in range(2)]
agents[0].learn_many(*(part[:1] for part in rows), refits=1)  # compiles
threads = [threading.Thread(target=agent.learn_many, args=rows, kwargs={"refits": 50}) for agent in agents]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


@pytest.fixture
def two_cores(monkeypatch):
    """Two cores for two trials each; gives how many batches are played at the same time, as a list that grows."""
    monkeypatch.setattr(batch_size, "cores", lambda: 2)
    monkeypatch.setattr(batch_size, "FEWEST", 2)
    monkeypatch.setattr(batch_size, "FEWEST_TRAINING", 2)
    play, seen = batches._play_batches, []

    def watched(prepared, programs, seed, parts, *rest):
        seen.append(len(parts))
        return play(prepared, programs, seed, parts, *rest)

    monkeypatch.setattr(batches, "_play_batches", watched)
    return seen


def test_agents_that_refit_at_the_same_time_do_not_wait_for_ever():
    """In a process of its own: jaxlib's threads would never come back."""
    done = subprocess.run([sys.executable, "-c", TWO_AGENTS], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


@config
class Factorising(Uniform):
    refit_every: int = 5

    def init(self, key, spec):
        return jnp.float32(0)

    def refit(self, key, state, history):
        factor = jnp.linalg.cholesky(jnp.eye(2) * (1 + (history.rewards**2).sum()))
        return jnp.maximum(state, factor[1, 0])


@config
class Factored(Linear):
    def begin(self, key, tables):
        episode = super().begin(key, tables)
        factors = jnp.linalg.cholesky(jnp.eye(2) * (1 + episode.coefficients[:, 0, None, None] ** 2))
        return episode._replace(coefficients=factors[:, :1, 0] * episode.coefficients)


def test_cores_refit_different_trials(two_cores):
    policy = override(policies.get("NeuralLinear"), SMALL)
    shared = simulate(policy, WHEEL, trials=4, horizon=30)
    one_by_one = simulate(policy, WHEEL, trials=4, horizon=30, batch_trials=2)
    assert two_cores == [2, 1, 1]  # batches that were played at the same time
    assert (shared.curve == one_by_one.curve).all()
    assert (shared.action_counts == one_by_one.action_counts).all()


@pytest.mark.parametrize(("policy", "problem"), [(Factorising(), WHEEL), (Uniform(), Factored())])
def test_what_would_hang_is_played_by_one_core(two_cores, policy, problem):
    """A refit of each trial, or the beginning of an episode."""
    simulate(policy, problem, trials=4, horizon=30)
    assert two_cores == [1, 1]
