"""Actions that are added and removed while an agent runs: what is learned stays, files and journals know of it."""

from __future__ import annotations

import json

import jax
import numpy as np
import pandas as pd
import pytest

from showdown.agent import Agent
from showdown.agent.action_changes import check_growth
from showdown.basics.errors import UsageError
from showdown.config import core
from showdown.policies import policies
from showdown.problems import table
from showdown.protocol.problem import ProblemSpec
from showdown.serve.journal_log import journal_log

pytestmark = pytest.mark.usefixtures("compiled_quickly")

LINEAR = policies.get("LinFullPost")
BUILT_IN = policies.names()  # before another test registers its own


def linear(**options) -> Agent:
    return Agent(LINEAR, context_dim=2, num_actions=3, **options)


def taught(**options) -> Agent:
    agent, draw = linear(**options), np.random.default_rng(0)
    agent.learn_many(draw.normal(size=(30, 2)), draw.integers(3, size=30), draw.normal(size=30))
    return agent


def means(agent: Agent) -> np.ndarray:
    return np.array(agent._state.regressions.mean)


def same(one: Agent, other: Agent):
    for mine, its in zip(jax.tree.leaves(one._state), jax.tree.leaves(other._state), strict=True):
        np.testing.assert_array_equal(mine, its)


def test_what_is_learned_stays_and_a_new_action_starts_from_the_prior():
    agent = taught()
    before, fresh = means(agent), np.array(agent._state.regressions.root)
    agent.add_action("new")
    assert agent.actions == [0, 1, 2, "new"]
    assert agent.spec.num_actions == 8
    np.testing.assert_array_equal(means(agent)[:3], before)
    np.testing.assert_array_equal(np.array(agent._state.regressions.root)[:3], fresh)
    np.testing.assert_array_equal(np.array(agent._state.regressions.root)[3], np.eye(3) * 2)  # the prior
    assert [agent.choose([0.5, 0.1]) for _ in range(3)] == ["new"] * 3  # as often as the others at first
    chosen = {agent.choose([0.5, 0.1]) for _ in range(40)}
    assert chosen <= {0, 1, 2, "new"}
    assert agent.learn([0.5, 0.1], "new", 50.0)
    assert agent.learn([0.5, 0.1], "new", 50.0)
    assert agent.choose([0.5, 0.1]) == "new"
    assert agent.choose([0.5, 0.1], available=[0, 2]) in (0, 2)
    decision = agent.decide([0.5, 0.1])
    assert (decision.name, decision.known_as) == ("new", "new")
    assert agent._codec.outcomes(np.zeros((2, 2)), np.array(["0", "new"]), None)[1].tolist() == [0, 3]  # NumPy's text
    law = agent.probabilities([0.5, 0.1])
    assert law.values[4:].sum() == 0
    assert law.values.sum() == pytest.approx(1, abs=1e-3)


def test_most_additions_change_no_shape_and_the_arrays_double_when_full():
    agent = linear(room=2)
    assert agent.spec.num_actions == 5
    for name in ("a", "b"):
        agent.add_action(name)
    assert agent.spec.num_actions == 5
    assert [agent.choose([0.0, 1.0]) for _ in range(15)] == [0, 1, 2, "a", "b"] * 3  # nobody's turn is lost
    agent.add_action("c")
    assert agent.spec.num_actions == 10
    assert [agent.choose([0.0, 1.0]) for _ in range(3)] == ["c"] * 3


@pytest.mark.parametrize("room", [-2, 1.5, True, 10_001])
def test_there_is_room_for_a_number_of_actions(tmp_path, room):
    with pytest.raises(UsageError, match="room is how many actions can be added, from 0 to 10,000, not"):
        linear(room=room)
    linear().save(tmp_path / "agent.npz")
    with pytest.raises(UsageError, match="room is how many actions can be added, from 0 to 10,000, not"):
        Agent.load(tmp_path / "agent.npz", room=room)


def test_actions_that_share_what_is_learned_need_no_room():
    with pytest.raises(UsageError, match="it needs no room for them"):
        Agent(LINEAR, context_dim=2, num_actions=3, action_dim=2, room=4)


def test_a_removed_action_is_never_taken_and_its_place_starts_anew():
    agent = taught(room=1)
    waiting = [agent.decide([1.0, 0.0], available=[1]) for _ in range(2)]
    agent.remove_action(1)
    assert agent.actions == [0, 2]
    assert 1 not in {agent.choose([0.3, 0.2]) for _ in range(20)}
    assert agent.reward(waiting[0].id, 2.0)  # as long as its place is free
    for name in ("x", "y"):  # a slot that was never used comes first
        agent.add_action(name)
    assert agent._codec.roster.names == [0, "y", 2, "x"]
    np.testing.assert_array_equal(means(agent)[1], 0)
    np.testing.assert_array_equal(np.array(agent._state.regressions.root)[1], np.eye(3) * 2)
    assert agent.counts()["dropped"] == 1
    agent.add_action(1)  # it starts anew too
    assert agent._codec.roster.slot(1) == 4
    agent.remove_action("x")
    for name in (0, 1, 2):
        agent.remove_action(name)
    with pytest.raises(UsageError, match="'y' is the last action"):
        agent.remove_action("y")


def test_files_and_journals_know_which_actions_there_are(tmp_path):
    path, journal = tmp_path / "agent.npz", tmp_path / "journal"
    agent = taught(journal=journal, archive_journal=True)
    agent.add_action("early")
    agent.decide([0.1, 0.2])
    agent.save(path)
    agent.remove_action(0)
    for name in ("b", "c", "d", "e", "f"):  # the arrays grow after the save
        agent.add_action(name)
    made = [agent.decide([0.1, 0.2]) for _ in range(25)]
    for number, decision in enumerate(made):
        agent.reward(decision.id, number / 10)
    agent.learn([0.0, 1.0], "d", 1.0)
    agent.close()
    again = Agent.load(path, journal=journal, archive_journal=True)
    assert again.actions == agent.actions == ["f", 1, 2, "early", "b", "c", "d", "e"]
    assert again.spec == agent.spec
    assert again._decider.clock.owed == agent._decider.clock.owed
    same(agent, again)
    assert [again.choose([0.3, 0.1]) for _ in range(9)] == [agent.choose([0.3, 0.1]) for _ in range(9)]
    again.save(path)
    again.close()
    third = Agent.load(path, journal=journal)
    assert third.actions == agent.actions
    same(third, again)
    log = journal_log(journal)
    assert set(log.action_names) == {str(name) for name in agent.actions}
    assert [log.action_names[action] for action in log.actions] == [one.name for one in made]


def test_a_journal_puts_actions_where_they_were_whatever_room_there_is(tmp_path):
    path, journal = tmp_path / "agent.npz", tmp_path / "journal"
    agent = taught(journal=journal)
    agent.save(path)
    agent.remove_action(1)
    agent.add_action("x")  # in the slot of 1, since all are taken
    waiting = agent.decide([0.1, 0.2], available=["x"])
    agent.close()
    again = Agent.load(path, journal=journal, room=4)
    assert again._codec.roster.names == [0, "x", 2, None, None, None, None]
    assert agent.reward(waiting.id, 3.0)
    assert again.reward(waiting.id, 3.0)
    np.testing.assert_array_equal(means(again)[:3], means(agent)[:3])


@pytest.mark.parametrize("name", ["NeuralLinear", "Council-fast"])
def test_policies_that_refit_take_more_actions(name):
    draw = np.random.default_rng(1)
    agent = Agent(policies.get(name).small(), context_dim=2, num_actions=3, room=1)
    for context, action in zip(draw.normal(size=(14, 2)), np.resize([0, 1, 2], 14), strict=True):
        agent.learn(context, int(action), float(action))
    agent.add_action("x")
    for context in draw.normal(size=(14, 2)):
        agent.learn(context, "x", 5.0)
    agent.remove_action(1)
    agent.add_action("y")
    slot, kept = agent._codec.roster.slot("y"), agent._learner.history.rows()
    assert slot == (
        4 if name == "GP" else 1
    )  # a process keeps what it saw of the old action, so its slot is not reused
    assert name == "GP" or 1 not in kept.actions[: kept.filled]
    for context in draw.normal(size=(14, 2)):
        agent.learn(context, "y", 1.0)
    assert agent.decide([0.1, 0.2]).name in ("0", "2", "x", "y")


def test_every_policy_takes_more_actions_or_says_why_not():
    refused, old = {}, ProblemSpec(3, 5)
    for name in BUILT_IN:
        policy = policies.get(name).small()
        try:
            check_growth(policy, old, old._replace(num_actions=11))
        except UsageError as error:
            refused[type(core(policy)).__name__] = str(error)
    assert set(refused) == {"IndexedNetwork", "LowRankFilter"}  # weights of all actions in one vector
    assert all("of all actions together, so none can be added" in sentence for sentence in refused.values())


def test_a_process_keeps_what_it_saw_of_an_action_so_its_place_is_not_given_away():
    agent = Agent(policies.get("GP").small(), context_dim=1, num_actions=2, room=1)
    agent.add_action("x")
    agent.remove_action(0)
    agent.add_action("y")
    assert agent._codec.roster.slot("y") == 3


def test_features_of_actions_and_names_of_a_table(tmp_path):
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({f"price.{plan}": draw.uniform(1, 9, 40) for plan in ("a", "b")}).assign(
        plan=draw.choice(["a", "b"], 40)
    )
    problem = table(frame, label="plan", features="all")
    hybrid = Agent.for_table(problem, policies.get("LinHybrid"))
    hybrid.add_action("c")
    assert hybrid.choose({}, actions={"c": {"price": 1.0}}) == "c"
    hybrid.save(tmp_path / "agent.npz")
    assert Agent.load(tmp_path / "agent.npz").actions == ["a", "b", "c"]
    shared = Agent.for_table(problem, policies.get("LinUCB"))
    for change in (shared.add_action, shared.remove_action):
        with pytest.raises(UsageError, match="the actions of this agent share what it learns"):
            change("c")
    with pytest.raises(UsageError, match="a name is text here"):
        hybrid.add_action(3)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (1, "there is an action 1 already"),
        ("", "text without spaces around it"),
        (" x", "text without spaces around it"),
        ("x" * 201, "at most 200 characters"),
        ("a\nb", "can be printed"),
        (None, "text without spaces"),
        (True, "text without spaces"),
        (-1, "text without spaces"),
        (["a"], "text without spaces"),
    ],
)
def test_names_that_are_refused(tmp_path, name, sentence):
    agent = linear(journal=tmp_path / "journal")
    with pytest.raises(UsageError, match=sentence):
        agent.add_action(name)
    with pytest.raises(UsageError, match="the agent has 3 actions, and may have 3"):
        agent.add_action("x", most=3)
    with pytest.raises(UsageError, match="action must lie between 0 and 2"):
        agent.remove_action(7)
    assert len((tmp_path / "journal").read_bytes().splitlines()) == 2  # nothing was written


def test_the_same_over_http(tmp_path, over_http):
    with over_http(linear(), tmp_path / "agent.npz", actions=4) as ask:
        assert ask("/actions") == (200, {"actions": [0, 1, 2]})
        assert ask("/actions/add", {"name": "new"}) == (200, {"actions": [0, 1, 2, "new"]})
        assert ask("/actions/remove", {"name": 0}) == (200, {"actions": [1, 2, "new"]})
        assert ask("/actions/add", {"name": "four"})[0] == 200
        for path, body, sentence in (
            ("/actions/add", {"name": "five"}, "the agent has 4 actions, and may have 4"),
            ("/actions/add", {"name": "new"}, "there is an action 'new' already"),
            ("/actions/add", {}, "the body lacks 'name'"),
            ("/actions/add", {"name": 1.5}, "name must be the name of an action or its number"),
            ("/actions/remove", {"name": "never"}, "no action is called 'never'"),
        ):
            status, answer = ask(path, body)
            assert (status, sentence in answer["error"]) == (422, True), answer
        status, chosen = ask("/choose", {"context": [0.1, 0.2], "available": ["new"]})
        assert (status, chosen["action"], chosen["propensity"]) == (200, "new", 1.0)
    assert Agent.load(tmp_path / "agent.npz").actions == [1, 2, "new", "four"]


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("names", ["a", "a"], "must be 8 names"),
        ("names", [0, 1, 2, 0, None, None, None, None], "a name each"),
        ("names", [None] * 8, "at least one"),
        ("names", [0, 1, 2, 3.5, None, None, None, None], "a name each"),
        ("freed", [0], "must be free"),
        ("freed", ["x"], "must be free"),
        ("began_with", 9, "began_with must be a whole number"),
    ],
)
def test_damaged_files_are_refused(tmp_path, key, value, sentence):
    agent = linear()
    agent.add_action("x")
    agent.save(tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as stored:
        parts = dict(stored)
    about = json.loads(parts["about"].tobytes()) | {key: value}
    np.savez(tmp_path / "bad.npz", **(parts | {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}))
    with pytest.raises(UsageError, match=sentence):
        Agent.load(tmp_path / "bad.npz")
