"""Refits that call LAPACK: known, and one at a time; those that do not are played by all cores."""

from __future__ import annotations

import subprocess
import sys

import pytest

from showdown.config import override
from showdown.play import room
from showdown.play.factorising import factorises
from showdown.policies import policies
from showdown.problems import problems
from showdown.simulate import simulate

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


@pytest.mark.parametrize(("name", "expected"), [("RMS", False), ("NeuralLinear", True)])
def test_a_refit_that_calls_lapack_is_known(name, expected):
    assert factorises(override(policies.get(name), SMALL)) == expected


def test_agents_that_refit_at_the_same_time_do_not_wait_for_ever():
    """In a process of its own: jaxlib's threads would never come back."""
    done = subprocess.run([sys.executable, "-c", TWO_AGENTS], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


def test_cores_train_networks_of_different_trials(monkeypatch):
    monkeypatch.setattr(room, "cores", lambda: 2)
    monkeypatch.setattr(room, "FEWEST_TRAINING", 2)
    rms, neural_linear = (override(policies.get(name), SMALL) for name in ("RMS", "NeuralLinear"))
    assert room.cores_at_play(rms, 3) == 1
    assert room.cores_at_play(neural_linear, 4) == 1
    assert room.cores_at_play(rms, 4) == 2
    shared = simulate(rms, problems.get("wheel-0.5"), trials=4, horizon=30)
    one_by_one = simulate(rms, problems.get("wheel-0.5"), trials=4, horizon=30, batch_trials=2)
    assert shared.batch_trials == 2
    assert (shared.curve == one_by_one.curve).all()
    assert (shared.action_counts == one_by_one.action_counts).all()
