"""What public objects print fits a screen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import showdown as sd
from showdown.bench.plan import plan_values
from showdown.bench.store import Store
from showdown.data.encoder import Encoder
from showdown.logged.read_log import read_log
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems

LINES, WIDTH = 45, 130


@pytest.fixture(scope="module")
def printed(results, frame, tmp_path_factory):
    problem, policy = sd.problem(frame, label="plan"), sd.policy("Council", prior_precision=3.0)
    store = Store(results.folder)
    draw = np.random.default_rng(0)
    log = pd.DataFrame({"x": draw.normal(size=50), "action": draw.choice(["a", "b"], 50), "reward": 1.0, "p": 0.5})
    agent = sd.Agent.for_table(problem, sd.policy("LinGreedy"))
    folder = tmp_path_factory.mktemp("empty")
    return {
        "results": results,
        "plot": results.plot,
        "verdict": results.verdict,
        "comparison": results.compare("LinGreedy", "LinPost"),
        "outcome": simulate(sd.policy("Uniform"), problem, trials=4),
        "policy": policy,
        "problem": problem,
        "agent": agent,
        "probabilities": agent.probabilities({"age": 30, "region": "north"}),
        "encoder": Encoder.for_problem(problem),
        "table of actions": problem.bandit_table(),
        "log": read_log(log, action="action", reward="reward", propensity="p"),
        "evaluation": sd.evaluate("uniform", log, action="action", reward="reward", propensity="p"),
        "policies": policies,
        "problems": problems,
        "store": store,
        "record": store.cells()[0],
        "plan": plan_values({"A": policy}, {"B": problem}, Store(folder), trials=2)[0],
        "selection": results._cells.chosen,
        "many": sd.Results(results._cells),
    }


def test_everything_fits_a_screen(printed):
    for name, value in printed.items():
        lines = repr(value).splitlines()
        assert 0 < len(lines) <= LINES, f"{name} prints {len(lines)} lines"
        assert max(map(len, lines)) <= WIDTH, f"{name} prints {max(map(len, lines))} letters"
        assert " at 0x" not in repr(value), name


def test_a_configuration_prints_what_differs_from_the_nearest_preset():
    for name in ("LinFullPost", "LinFullPost[prior_precision=2]", "RMS[hidden_layers=(3,4),learning_rate=0.3]"):
        assert repr(policies.get(name)) == name
        assert policies.get(repr(policies.get(name))) == policies.get(name)
    for registry in (policies, problems):
        for entry in registry:
            if entry.value.__class__.__module__.startswith("showdown."):
                assert registry.get(repr(entry.value)) == entry.value, entry.name
