"""The journal of an agent as a log: late and missing rewards, what could be taken, features, names, other segments."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.logged.evaluate import evaluate
from showdown.policies import policies
from showdown.problems import table
from showdown.serve.journal_log import is_journal, journal_log

pytestmark = pytest.mark.usefixtures("compiled_quickly")

ROWS = 40


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    x = draw.normal(size=ROWS)
    prices = {f"price.{plan}": draw.uniform(1, 9, ROWS) for plan in ("a", "b", "c")}
    return pd.DataFrame({"x": x, **prices, "plan": np.where(x > 0, "a", draw.choice(["b", "c"], ROWS))})


def test_late_and_missing_rewards_and_what_could_be_taken(tmp_path, frame):
    path = tmp_path / "journal"
    problem = table(frame[["x", "plan"]], label="plan")
    agent = Agent.for_table(problem, policies.get("Uniform"), journal=path, archive_journal=True)
    made = []
    for number, (_, row) in enumerate(frame.iterrows()):
        made.append(agent.decide(row, available=["c", "a"] if number % 4 == 0 else None))
        if number == 20:
            agent.save(tmp_path / "agent.npz")  # another segment begins, and rewards of the first come later
    order = [*range(30, ROWS), *range(25)]  # five have none
    for number in order:
        agent.reward(made[number].id, number / 10)
    agent.learn(frame.iloc[0], "b", 9.0)
    agent.learn_many(frame[["x", "plan"]].iloc[:3], ["a", "b", "c"], [1.0, 2.0, 3.0])
    agent.choose(frame.iloc[0])
    agent.close()
    assert is_journal(path)
    assert not is_journal(tmp_path / "agent.npz")
    assert not is_journal(tmp_path / "nothing")
    log = journal_log(path)
    kept = [*range(25), *range(30, ROWS)]
    assert log.action_names == ("a", "c", "b")  # as they were first offered
    assert [log.action_names[action] for action in log.actions] == [made[number].name for number in kept]
    np.testing.assert_allclose(log.rewards, np.array(kept) / 10, rtol=1e-6)
    np.testing.assert_allclose(log.propensities, [1 / 2 if number % 4 == 0 else 1 / 3 for number in kept], rtol=1e-6)
    assert log.available is not None
    assert [bool(row.all()) for row in log.available] == [number % 4 != 0 for number in kept]
    np.testing.assert_allclose(log.contexts[3], agent._codec.context(frame.iloc[3]), rtol=1e-6)
    assert [note.split(" are left")[0] for note in log.notes] == [
        "5 decisions without a reward",
        "4 rewards without a decision of this journal",
    ]
    found = evaluate(["uniform", "always a"], log)
    assert "5 decisions without a reward" in str(found)


@pytest.mark.parametrize("name", ["LinHybrid", "Uniform"])
def test_features_of_actions_are_in_the_log(tmp_path, frame, name):
    problem, path = table(frame, label="plan", features="all"), tmp_path / "journal"
    agent = Agent.for_table(problem, policies.get(name), journal=path)
    offers = []
    for number, (_, row) in enumerate(frame.iterrows()):
        offers.append({plan: {"price": row[f"price.{plan}"]} for plan in ("a", "b", "c")[number % 2 :]})
        made = agent.decide(row, actions=offers[-1])
        agent.reward(made.id, float(made.name == row["plan"]))
    agent.close()
    log = journal_log(path)
    assert set(log.action_names) == {"a", "b", "c"}
    encoder = agent.encoder.of_actions
    for row in (0, 1, 7):
        for plan, features in offers[row].items():
            at = log.action_names.index(plan)
            np.testing.assert_allclose(log.offered[row, at], encoder.encode(plan, features), atol=1e-6)
            assert log.available[row, at]
    assert not log.available[1, log.action_names.index("a")]
    if name == "Uniform":
        assert "LinUCB" in str(evaluate(["LinUCB", "uniform"], log))


def test_too_few_decisions_and_damage_are_said(tmp_path):
    path = tmp_path / "journal"
    agent = Agent(policies.get("Uniform"), context_dim=1, num_actions=2, journal=path)
    ids = [agent.decide([0.0]).id for _ in range(12)]
    for id in ids[:9]:
        agent.reward(id, 1.0)
    with pytest.raises(UsageError, match="9 decisions with a reward"):
        journal_log(path)
    agent.reward(ids[9], 0.0)
    assert journal_log(path).action_names == ("0", "1")
    agent.close()
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:6], lines[6].replace(b"1", b"2"), *lines[7:]]))
    with pytest.raises(UsageError, match="is damaged"):
        journal_log(path)
