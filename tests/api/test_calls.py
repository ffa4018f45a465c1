"""`sd.recommend`, `sd.tune`, `sd.evaluate`, `sd.list`, and what `import showdown` loads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import showdown as sd
from showdown.problems import own_table


@pytest.fixture(scope="module")
def answer(frame):
    return sd.recommend(frame, label="plan", policies="LinGreedy", rounds=(2, 4), budget="60s", page=False)


def test_a_recommendation_is_results_with_an_agent(answer, frame):
    assert answer.policies == ["Uniform", "LinGreedy"]
    assert answer.metric == "accuracy"
    assert answer.table()["unit"].unique().tolist() == ["share of steps"]
    assert answer.verdict == answer.answer.verdict
    assert repr(answer).startswith(answer.sentence[:20])
    agent = answer.agent("LinGreedy", learned=False, seed=1)
    row = frame.drop(columns="plan").iloc[0].to_dict()
    decision = agent.decide(row)
    assert decision.name in ("plus", "basic")
    agent.reward(decision.id, 1.0)
    assert "1 decisions, 1 rewards learned" in repr(agent)
    knows = answer.agent("LinGreedy", seed=1)
    assert knows.observations > 0
    assert answer.agent(sd.policy("LinPost"), learned=False).policy == sd.policy("LinPost")
    assert "--" not in repr(answer)  # the words of Python, not those of the command line


def test_a_second_recommendation_on_the_table_leaves_the_first_as_it_was(answer, frame):
    options = {"label": "plan", "rounds": (2, 4), "budget": "60s", "page": False}
    other = sd.recommend(frame, policies="LinUCB", seed=5, learn=False, **options)
    assert other.policies == ["Uniform", "LinUCB"]
    assert other.trials()["seed"].unique().tolist() == [5]
    assert answer.policies == ["Uniform", "LinGreedy"]
    assert (answer.policy, other.policy) == ("LinGreedy", "LinUCB")  # both have written their agents to one file
    assert answer.agent().policy == sd.policy("LinGreedy")
    assert other.agent().observations > 0


def test_an_agent_is_made_of_a_policy_and_not_of_its_name():
    with pytest.raises(sd.UsageError, match=r"sd.policy\('LinGreedy'\) makes one"):
        sd.Agent("LinGreedy", context_dim=2, num_actions=2)  # type: ignore[arg-type]


def test_a_recommendation_is_for_tables_and_plays_names(frame):
    with pytest.raises(sd.UsageError, match="recommended for a table"):
        sd.recommend(sd.problem("linear"))
    with pytest.raises(sd.UsageError, match="plays policies by name"):
        sd.recommend(frame, label="plan", policies=[sd.policy("LinGreedy")])
    with pytest.raises(sd.UsageError, match=r"a time with its unit, .* not 60"):
        sd.recommend(frame, label="plan", budget=60)  # type: ignore[arg-type]
    with pytest.raises(sd.UsageError, match="rounds are numbers of trials"):
        sd.recommend(frame, label="plan", rounds=())
    with pytest.raises(sd.UsageError, match=r"sd\.recommend has no option 'lable'; did you mean 'label'"):
        sd.recommend(frame, lable="plan")  # type: ignore[call-arg]


def test_a_tuning_gives_a_policy_a_table_and_results():
    sd.run("LinGreedy[prior_precision=2]", "linear", horizon=30, trials=2)  # in the same folder, and not part of it
    found = sd.tune(
        "LinGreedy[prior_precision=2]",
        "linear",
        fields=["prior_precision"],
        horizon=20,
        trials=2,
        final_trials=3,
        budget=3,
        batch=3,
        progress=False,
    )
    assert found.table()["prior_precision"].size == 3
    assert found.policy == sd.policy(found.name)
    assert found.preset.exists()
    assert "LinGreedy[prior_precision=2]" in found.results.policies
    assert set(found.results.trials()["horizon"]) == {20}
    assert set(found.results.trials()["trials"]) == {3}
    assert str(found.folder) not in repr(found)  # it goes with this process
    assert found.verdict in repr(found) or "keep" in repr(found) or "none beat" in repr(found)
    with pytest.raises(sd.UsageError, match="one policy is tuned at a time"):
        sd.tune("LinGreedy,LinPost", "linear")


def logged(rows: int = 60) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    table = {"age": draw.normal(size=rows), "when": np.arange(rows), "ad": draw.choice(["a", "b"], rows)}
    return pd.DataFrame({**table, "click": draw.integers(0, 2, rows), "p": np.full(rows, 0.5)})


def test_lists_and_texts_name_columns_and_policies_alike():
    roles = {"action": "ad", "reward": "click", "propensity": "p"}
    found = sd.evaluate(["uniform", "always a"], logged(), ignore=["when"], **roles)
    same = sd.evaluate("uniform,always a", logged(), ignore="when", **roles)
    assert same.estimates == found.estimates
    assert found.context_dim == 1
    table = found.table()
    assert set(table["policy"]) == {"uniform", "always a"}
    assert {"value", "low", "high", "estimator"} <= set(table.columns)
    assert repr(found) == str(found)


def test_a_list_of_what_there_is_takes_patterns():
    names = sd.list("policies", "lin*")["name"]
    assert {"LinFullPost", "LinGreedy"} <= set(names)
    assert all(name.lower().startswith("lin") for name in names)
    assert "quick" in set(sd.list("suites")["name"])
    with pytest.raises(sd.UsageError, match="did you mean 'problems'"):
        sd.list("problem")  # type: ignore[arg-type]
    with pytest.raises(sd.UsageError, match="called like 'zz'"):
        sd.list("problems", "zz")


def test_a_table_in_memory_goes_to_another_process(frame, monkeypatch):
    problem = sd.problem(frame, label="plan")
    sent = pickle.dumps(problem)
    rows = problem.load().contexts
    monkeypatch.setattr(own_table, "_in_memory", {})  # as in a process that has not seen it
    assert (pickle.loads(sent).load().contexts == rows).all()


QUICK = """
import sys, time
before = time.perf_counter()
import showdown as sd
seconds = time.perf_counter() - before
dir(sd)
heavy = {"jax", "pandas", "numpy", "rich", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
try:
    sd.nothing
except AttributeError as error:
    assert "run" in str(error)
sd.run
assert "jax" in sys.modules
print(seconds)
"""


def test_importing_loads_nothing_heavy_and_takes_no_time():
    path = {**os.environ, "PYTHONPATH": str(Path(sd.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", QUICK], env=path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.3
    assert set(dir(sd)) >= {"run", "open", "recommend", "tune", "evaluate", "Agent", "Results", "policy", "problem"}
    with pytest.raises(AttributeError, match="it has"):
        sd.nothing  # noqa: B018
