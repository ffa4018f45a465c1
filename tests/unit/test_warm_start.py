"""Agents that have learned from a table or a log before they decide."""

from __future__ import annotations

import json
import shutil

import jax
import numpy as np
import pandas as pd
import pytest

from showdown.agent import Agent, table_rows
from showdown.basics.errors import UsageError
from showdown.policies import policies
from showdown.problems import table
from showdown.recommendation.answer import taught, write_agent_file

pytestmark = pytest.mark.usefixtures("compiled_quickly")

ROWS = 60
LINEAR = policies.get("LinFullPost")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    draw = np.random.default_rng(1)
    age, region = draw.uniform(20, 80, ROWS).round(), draw.choice(["north", "south"], ROWS)
    plan = np.where(age > 50, "gold", np.where(region == "north", "basic", "none"))
    return pd.DataFrame({"age": age, "region": region, "price.basic": age / 9, "price.gold": 9 - age / 9}).assign(
        **{"price.none": draw.uniform(0, 9, ROWS), "plan": plan}
    )


@pytest.fixture(scope="module")
def plain(frame):
    return table(frame[["age", "region", "plan"]], label="plan")


@pytest.fixture
def recipe(plain, tmp_path):
    """The files that a recommendation writes."""
    learned = taught("LinFullPost", plain, tmp_path / "agent-learned.npz")
    assert (learned.rows, learned.rewards) == (ROWS, 3 * ROWS)
    return write_agent_file("LinFullPost", plain, tmp_path / "agent.json", learned)


def close(one: Agent, other: Agent, tolerance=1e-4):
    for mine, its in zip(jax.tree.leaves(one._state), jax.tree.leaves(other._state), strict=True):
        np.testing.assert_allclose(mine, its, rtol=tolerance, atol=tolerance)


def test_each_row_of_a_table_teaches_what_every_action_pays(frame, plain):
    by_problem, by_rows, by_hand = (Agent.for_table(plain, LINEAR) for _ in range(3))
    assert by_problem.learn_table(plain) == by_problem.observations == 3 * ROWS
    assert by_rows.learn_table(frame, label="plan") == 3 * ROWS
    for _, row in frame.iterrows():
        for action in ("basic", "gold", "none"):
            by_hand.learn(row, action, float(row["plan"] == action))
    close(by_problem, by_hand)
    close(by_rows, by_hand)
    assert by_problem.decisions == 0
    assert not by_problem._decider.clock.owed  # no warm-up is left
    right = [by_problem.choose(row) == row["plan"] for _, row in frame.iterrows()]
    assert np.mean(right) > 0.8


def test_a_log_teaches_what_the_actions_taken_paid(frame, plain):
    log = frame[["age", "region"]].assign(offer=np.resize(["gold", "none", "basic"], ROWS), paid=np.arange(ROWS) * 1.0)
    log.loc[3, "offer"], log.loc[4, "paid"] = None, np.nan
    agent, by_hand = Agent.for_table(plain, LINEAR), Agent.for_table(plain, LINEAR)
    assert agent.learn_table(log, action="offer", reward="paid") == ROWS - 2
    for _, row in log.dropna().iterrows():
        by_hand.learn(row, row["offer"], row["paid"])
    close(agent, by_hand)


def test_features_of_actions_are_learned_from_tables_and_logs(frame):
    problem = table(frame, label="plan", features="all")
    by_problem, by_rows, by_log, by_hand = (Agent.for_table(problem, policies.get("LinHybrid")) for _ in range(4))
    assert by_problem.learn_table(problem) == by_rows.learn_table(frame, label="plan", features="all") == 3 * ROWS
    for _, row in frame.iterrows():
        for action in ("basic", "gold", "none"):
            by_hand.learn(row, action, float(row["plan"] == action), features={"price": row[f"price.{action}"]})
    close(by_problem, by_hand, 1e-3)
    close(by_rows, by_hand, 1e-3)
    assert by_log.learn_table(frame.assign(paid=1.0), action="plan", reward="paid") == ROWS
    assert by_log.observations == ROWS
    one_price = [row[f"price.{row['plan']}"] for _, row in frame.iterrows()]  # of the action taken alone
    log = frame[["age", "region", "plan"]].assign(price=one_price, paid=1.0)
    by_price = Agent.for_table(problem, policies.get("LinHybrid"))
    assert by_price.learn_table(log, action="plan", reward="paid") == ROWS
    close(by_price, by_log)
    shared = Agent.for_table(problem, policies.get("LinGreedy"))  # of any action, also one never seen
    assert table_rows.of_log(shared._codec, log.assign(plan="silver"), "plan", "paid").slots.tolist() == [0] * ROWS
    with pytest.raises(UsageError, match="no columns with 'price' of each action"):
        by_price.learn_table(log.drop(columns="price"), action="plan", reward="paid")


def test_what_a_table_and_a_log_say_of_an_action_that_was_removed_is_left_out(frame, plain):
    agent, log = Agent.for_table(plain, LINEAR, room=1), frame.assign(paid=1.0)
    agent.remove_action("gold")
    right = np.stack([frame["plan"] == "basic", frame["plan"] == "none"], axis=1)
    for found in (
        table_rows.of_problem(agent._codec, plain),
        table_rows.of_table(agent._codec, frame, "plan", "", {}),
    ):
        assert found.slots.tolist() == [0, 2] * ROWS
        np.testing.assert_array_equal(found.rewards, right.ravel())
    left = frame["plan"][frame["plan"] != "gold"]
    slots = table_rows.of_log(agent._codec, log, "plan", "paid").slots
    assert slots.tolist() == [{"basic": 0, "none": 2}[one] for one in left]
    assert agent.learn_table(log, action="plan", reward="paid") == len(left)
    with pytest.raises(UsageError, match="no action is called 'silver'"):
        agent.learn_table(log.replace("gold", "silver"), action="plan", reward="paid")
    with pytest.raises(UsageError, match="every action of the log was removed"):
        agent.learn_table(log[log["plan"] == "gold"], action="plan", reward="paid")
    with pytest.raises(UsageError, match="no row of the log has both"):
        agent.learn_table(log.assign(paid=np.nan), action="plan", reward="paid")


def test_features_of_the_actions_that_are_left_go_with_their_rewards(frame):
    agent = Agent.for_table(table(frame, label="plan", features="all"), policies.get("LinHybrid"))
    agent.remove_action("gold")
    found = table_rows.of_table(agent._codec, frame, "plan", "", {"features": "all"})
    of_actions = agent.encoder.of_actions
    for place, name in enumerate(("basic", "none")):
        features = [of_actions.encode(name, {"price": price}) for price in frame[f"price.{name}"]]
        np.testing.assert_allclose(found.inputs[place::2, -len(features[0]) :], features, rtol=1e-6)


def test_a_long_table_teaches_its_last_rows_and_some_actions_of_each(frame, plain, monkeypatch):
    monkeypatch.setattr(table_rows, "MOST", 2 * ROWS)
    agent = Agent.for_table(plain, LINEAR)
    assert agent.learn_table(plain) == 2 * ROWS
    monkeypatch.setattr(table_rows, "MOST", 10)
    assert agent.learn_table(frame, label="plan") == 10
    taught_last = table_rows.of_table(agent._codec, frame, "plan", "", {})
    np.testing.assert_allclose(taught_last.inputs, agent._codec.contexts(frame.iloc[-10:]))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "name the label, or the reward columns"),
        ({"label": "plan", "action": "plan", "reward": "age"}, "name the label, or the reward columns"),
        ({"label": "plan", "colour": "red"}, "takes no 'colour'"),
        ({"action": "plan", "reward": "region"}, "does not hold numbers"),
        ({"action": "plan", "reward": "age", "costs": {"plus": 3}}, "costs goes with the label"),
        ({"label": "region"}, "no action is called 'north'"),
    ],
)
def test_what_is_refused(frame, plain, given, sentence):
    agent = Agent.for_table(plain, LINEAR)
    with pytest.raises(UsageError, match=sentence):
        agent.learn_table(frame, **given)
    with pytest.raises(UsageError, match="not made of the agent's own table"):
        agent.learn_table(table(frame, label="region"))
    with pytest.raises(UsageError, match="payoff goes with the label"):
        agent.learn_table(plain, payoff="margin")
    with pytest.raises(UsageError, match="without a table's encoder"):
        Agent(LINEAR, context_dim=2, num_actions=3).learn_table(frame, label="plan")
    assert agent.observations == 0


def test_a_recommended_agent_knows_the_table(recipe, frame, plain, tmp_path):
    agent = Agent.recommended(recipe, seed=3, remember=2, room=0, journal=tmp_path / "journal")
    assert (agent.observations, agent._pending.most) == (3 * ROWS, 2)
    assert np.mean([agent.choose(row) == row["plan"] for _, row in frame.iterrows()]) > 0.8
    agent.close()
    again = Agent.recommended(recipe, seed=3, journal=tmp_path / "journal")  # killed before it was saved
    assert again.decisions == ROWS
    again.close()
    assert Agent.recommended(recipe, learned=False).observations == 0
    about = json.loads(recipe.read_text())
    assert about["learned"] == {"file": "agent-learned.npz", "table": "table", "rows": ROWS, "rewards": 3 * ROWS}
    recipe.write_text(json.dumps(about | {"configuration": {**about["configuration"], "pulls": 7}}))
    with pytest.raises(UsageError, match="has learned for another agent"):
        Agent.recommended(recipe)
    recipe.write_text(json.dumps(about))
    (tmp_path / "agent-learned.npz").unlink()
    with pytest.raises(UsageError, match="is not there: copy both files"):
        Agent.recommended(recipe)


def test_a_server_learns_from_a_file_once(recipe, frame, tmp_path):
    pytest.importorskip("httptools")
    from showdown.serve.run import open_agent

    served = open_agent(recipe, tmp_path / "served.npz", new={"remember": 5, "seed": 1, "room": 2})
    assert (served.observations, served.spec.num_actions) == (3 * ROWS, 5)
    about = json.loads(recipe.read_text()) | {"learned": None, "data": {"label": "plan"}}
    recipe.write_text(json.dumps(about))
    frame.to_csv(tmp_path / "april.csv", index=False)
    frame.assign(action=["gold", "none"] * (ROWS // 2), reward=1).drop(columns="plan").to_csv(
        tmp_path / "log.csv", index=False
    )
    frame[["age", "region"]].to_csv(tmp_path / "neither.csv", index=False)
    saved = tmp_path / "agent.npz"
    for file, rewards in (("april.csv", 3 * ROWS), ("log.csv", ROWS)):
        agent = open_agent(recipe, saved, new={}, warm=tmp_path / file, journal=tmp_path / "journal")
        assert agent.observations == rewards
        agent.decide(frame.iloc[0])
        agent.close()
        again = open_agent(recipe, saved, new={}, warm=tmp_path / file, journal=tmp_path / "journal")
        assert (again.observations, again.decisions) == (rewards, 1)
        again.close()
        shutil.move(saved, tmp_path / "moved.npz")
        (tmp_path / "journal").unlink()
    with pytest.raises(UsageError, match="neither a table with 'plan' nor a log"):
        open_agent(recipe, saved, new={}, warm=tmp_path / "neither.csv")
    assert not saved.exists()
