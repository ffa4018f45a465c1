"""What a change of actions must leave alone: turns that are over, random numbers, journals, what servers know."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from showdown.agent import Agent, JournalLossError, journal_records
from showdown.basics.errors import UsageError
from showdown.policies import policies
from showdown.problems import table
from showdown.recommendation.answer import taught, write_agent_file
from showdown.serve.journal_log import journal_log

pytestmark = pytest.mark.usefixtures("compiled_quickly")

LINEAR = policies.get("LinFullPost")
CONTEXT = [0.5, 0.1]


def linear(**options) -> Agent:
    return Agent(LINEAR, context_dim=2, num_actions=3, **options)


@pytest.mark.parametrize("before", [4, 10, 30])
def test_an_addition_repeats_no_turn_and_no_random_number(before):
    agent = linear()
    for _ in range(before):
        agent.choose(CONTEXT)
    agent.add_action("new")  # the arrays grow from 3 to 8 places, whose warm-up would last 24 steps
    chosen = [agent.choose(CONTEXT) for _ in range(max(0, 9 - before) + 3)]
    assert sorted(map(str, chosen)) == sorted(["new"] * 3 + [str(turn % 3) for turn in range(before, 9)])
    assert not agent._decider.clock.is_warming_up
    steps = agent._decider.clock.steps(40)
    assert steps == list(range(steps[0], steps[0] + 40))
    agent.choose(CONTEXT)
    assert agent._decider.clock.step == steps[1]


def test_probabilities_are_in_the_order_of_the_actions():
    agent = linear()
    agent.learn_many(np.tile(CONTEXT, (9, 1)), [0, 1, 2] * 3, [0.0, 0.0, 50.0] * 3)
    agent.add_action("new")
    agent.remove_action(1)
    for _ in range(3):
        assert agent.choose(CONTEXT) == "new"
    agent.learn_many(np.tile(CONTEXT, (3, 1)), ["new"] * 3, [-50.0] * 3)
    found = agent.probabilities(CONTEXT)
    assert agent.actions == [0, 2, "new"]
    assert (len(found.values), len(found.errors), int(found.values.argmax())) == (3, 3, 1)
    assert "3 actions (0, 2, new)" in " ".join(repr(agent).split())


def test_a_name_is_one_name_in_every_writing(tmp_path):
    agent = linear()
    with pytest.raises(UsageError, match="there is an action 1 already"):
        agent.add_action("1")
    hybrid = Agent(policies.get("LinHybrid"), context_dim=2, num_actions=3, action_dim=1, journal=tmp_path / "journal")
    made = hybrid.decide(CONTEXT, actions={"2": [1.0]})  # as JSON has it
    assert (made.action, made.known_as) == (2, 2)
    assert hybrid.choose(CONTEXT, actions={np.int64(1): [1.0]}) == 1
    for names, sentence in (
        ({1: [1.0], "1": [2.0]}, "offered twice"),
        ({None: [1.0]}, "by its name, text or a whole number, not None"),
        ({(1, 2): [1.0]}, "by its name, text or a whole number"),
    ):
        with pytest.raises(UsageError, match=sentence):
            hybrid.decide(CONTEXT, actions=names)


@pytest.mark.parametrize("room", [0, 4])
def test_a_journal_is_done_again_with_another_room(tmp_path, room):
    journal = tmp_path / "journal"
    agent = linear(room=1, journal=journal)
    agent.add_action("a")
    agent.remove_action("a")
    agent.add_action("b")  # in the place of a
    for reward in (1.0, 2.0, 3.0):
        agent.reward(agent.decide(CONTEXT, available=["b"]).id, reward)
    agent.close()
    again = linear(room=room, journal=journal)
    assert again.actions == [0, 1, 2, "b"]
    for mine, its in ((agent, again), (again, agent)):
        slots = [mine._codec.roster.slot(name) for name in (0, 1, 2, "b")]
        assert slots == [its._codec.roster.slot(name) for name in (0, 1, 2, "b")]
    np.testing.assert_array_equal(again._state.regressions.mean[:4], agent._state.regressions.mean[:4])
    again.close()


def test_a_server_starts_from_what_a_recommendation_wrote(tmp_path):
    pytest.importorskip("httptools")
    from showdown.serve.run import open_agent

    x = np.linspace(-1, 1, 40)
    problem = table(pd.DataFrame({"x": x, "plan": np.where(x > 0, "a", "b")}), label="plan")
    learned = taught("LinFullPost", problem, tmp_path / "agent-learned.npz")
    recipe = write_agent_file("LinFullPost", problem, tmp_path / "agent.json", learned)
    for room, slots in ((0, 2), (3, 5)):
        new = {"remember": 5, "seed": 0, "room": room}  # as the command says them
        with open_agent(recipe, tmp_path / "agent.npz", new=new) as agent:
            assert (agent.observations, agent.spec.num_actions, agent.actions) == (80, slots, ["a", "b"])
            assert [agent.choose([value]) for value in (-0.8, 0.8)] == ["b", "a"]


def test_a_server_saves_when_only_its_actions_changed(tmp_path, over_http):
    with over_http(linear(), tmp_path / "agent.npz") as ask:
        assert ask("/choose", {"context": CONTEXT})[0] == 200
    with over_http(Agent.load(tmp_path / "agent.npz"), tmp_path / "agent.npz") as ask:
        assert ask("/metrics")[0] == 200
        ask("/actions/add", {"name": "x"})
    with over_http(Agent.load(tmp_path / "agent.npz"), tmp_path / "agent.npz") as ask:
        assert ask("/actions") == (200, {"actions": [0, 1, 2, "x"]})


def rewarded(agent: Agent) -> None:
    for number in range(12):
        agent.reward(agent.decide([0.0, number]).id, 1.0)


def test_a_log_is_read_where_a_segment_was_not_kept(tmp_path):
    journal, file = tmp_path / "journal", tmp_path / "agent.npz"
    agent = Agent(policies.get("Uniform"), context_dim=2, num_actions=3, journal=journal, archive_journal=True)
    rewarded(agent)
    agent.save(file)
    agent.close()
    agent = Agent.load(file, journal=journal)
    agent.add_action("mid")
    agent.remove_action(1)
    agent.save(file)  # and what came before is not kept
    agent.close()
    agent = Agent.load(file, journal=journal, archive_journal=True)
    rewarded(agent)
    agent.remove_action("mid")
    agent.close()
    log = journal_log(journal)
    assert set(log.action_names) == {"0", "1", "2", "mid"}
    assert len(log.actions) == 24
    assert log.allowed[-1, log.action_names.index("mid")]
    assert not log.allowed[-1, log.action_names.index("1")]


def test_the_end_of_a_journal_as_a_killed_writer_or_an_accident_leaves_it(tmp_path):
    journal = tmp_path / "journal"
    agent = Agent(policies.get("Uniform"), context_dim=2, num_actions=3, journal=journal)
    rewarded(agent)
    agent.close()
    whole, records = journal.read_bytes(), list(journal_records(journal))
    journal.write_bytes(whole + b'0123456789abcdef {"n": 25, "deci')
    assert list(journal_records(journal)) == records
    journal.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(JournalLossError, match="ends after record 23, and 24 were written: put a copy back"):
        journal_log(journal)
    journal.write_bytes(whole[:-9])
    with pytest.raises(JournalLossError, match=r"line 26 of the journal .* is damaged: put a copy back"):
        journal_log(journal)
