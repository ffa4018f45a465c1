"""What an agent does for a service: ids, histories, available actions, names, bad calls, threads."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Event, RLock

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from showdown.agent import Agent, Reservoir, UnknownDecisionError, Window
from showdown.agent.background import Background
from showdown.agent.replay_buffer import ReplayBuffer
from showdown.basics.errors import UsageError
from showdown.config import config
from showdown.policies import policies
from showdown.policies.uniform import Uniform
from showdown.policies.wrappers import WarmUp
from showdown.problems import table
from showdown.protocol.policy import Policy
from showdown.recommendation.answer import write_agent_file
from showdown.tricks.threads import short_turns

DOCS = Path(__file__).parents[2] / "docs"
DIM, ACTIONS = 2, 3
LINEAR = policies.get("LinFullPost")


def linear_agent(**options) -> Agent:
    return Agent(LINEAR, context_dim=DIM, num_actions=ACTIONS, **options)


@pytest.fixture(scope="module")
def rows():
    draw = np.random.default_rng(0)
    contexts = draw.normal(size=(50, DIM)).astype(np.float32)
    return contexts, draw.integers(ACTIONS, size=50), draw.normal(size=50).astype(np.float32)


@config
class Sums(Policy):
    """Adds rewards as they come, and counts at every refit how many rows it sees; NaN where one is above 100."""

    refit_every: int = 4

    def init(self, key, spec):
        return {"sum": jnp.float32(0), "rows": jnp.int32(0), "first": jnp.float32(0), "fit": jnp.float32(0)}

    def act(self, key, state, situation):
        return jnp.int32(situation.step % 2)

    def update(self, key, state, situation, action, reward):
        return {**state, "sum": state["sum"] + reward}

    def refit(self, key, state, history):
        filled = jnp.arange(len(history.rewards)) < history.count
        total = jnp.sum(jnp.where(filled, history.rewards, 0))
        spoilt = jnp.where(filled & (history.rewards > 100), jnp.nan, 0).sum()
        return {
            **state,
            "rows": history.count,
            "first": history.contexts_at(jnp.array([0]))[0, 0],
            "fit": total + spoilt,
        }


def sums_agent(**options) -> Agent:
    return Agent(Sums(), context_dim=1, num_actions=2, **options)


# Decisions and their rewards


def test_rewards_by_id_in_any_order_teach_what_rewards_by_context_do(rows):
    contexts, _, rewards = rows
    by_id, by_context = linear_agent(), linear_agent()
    decisions = [by_id.decide(context) for context in contexts[:9]]
    actions = [by_context.choose(context) for context in contexts[:9]]
    assert [decision.action for decision in decisions] == actions
    assert [decision.name for decision in decisions] == [str(action) for action in actions]
    for place in (3, 8, 0, 5):
        by_id.reward(decisions[place].id, rewards[place])
        by_context.learn(contexts[place], actions[place], reward=rewards[place])
    assert by_id.counts()["waiting"] == 5
    for mine, its in zip(jax.tree.leaves(by_id._state), jax.tree.leaves(by_context._state), strict=True):
        np.testing.assert_array_equal(mine, its)


def test_the_oldest_decision_is_dropped_and_a_reward_is_taken_once():
    agent = sums_agent(remember=2)
    first, second, third = (agent.decide([1.0]) for _ in range(3))
    for known_no_more in (first.id, "another", None, ["x"]):
        with pytest.raises(UnknownDecisionError, match="waits for a reward"):
            agent.reward(known_no_more, 1.0)
    assert agent.reward(third.id, 1.0)
    with pytest.raises(UnknownDecisionError):
        agent.reward(third.id, 1.0)
    with pytest.raises(UsageError, match="finite"):
        agent.reward(second.id, float("nan"))
    assert agent.reward(second.id, reward=2.0)  # a bad reward does not use the decision up
    assert float(agent._state["sum"]) == 3
    counts = agent.counts()
    assert (counts["waiting"], counts["dropped"], counts["unknown"], counts["observations"]) == (0, 1, 5, 2)


def test_decisions_wait_across_save_and_load(tmp_path):
    agent = sums_agent(remember=3)
    waiting = [agent.decide([number]) for number in range(3)]
    agent.save(tmp_path / "agent.npz")
    loaded = Agent.load(tmp_path / "agent.npz")
    assert loaded.reward(waiting[1].id, 5.0)
    assert loaded.decide([9.0]).id not in {decision.id for decision in waiting}
    assert float(loaded._state["sum"]) == 5
    assert loaded._pending.most == 3


def test_only_available_actions_are_taken():
    agents = [Agent(policy, context_dim=DIM, num_actions=ACTIONS) for policy in (LINEAR, Uniform())]
    for agent in agents:
        chosen = {agent.choose([0.5, 1.0], available=[0, 2]) for _ in range(30)}
        assert chosen == {0, 2}
        decision = agent.decide([0.5, 1.0], available=[1])
        assert (decision.action, decision.propensity) == (1, 1.0)


def test_a_policy_that_ignores_what_is_available_is_refused():
    agent = Agent(WarmUp(inner=Sums(), pulls=0), context_dim=1, num_actions=3)
    with pytest.raises(
        UsageError, match=r"chose action 0, which is not available: let `act` choose with situation\.best"
    ):
        agent.choose([0.0], available=[2])
    assert agent.decisions == 0
    assert agent.choose([0.0], available=[0, 2]) == 0


# Histories


def test_a_history_teaches_what_its_rows_do_one_by_one(rows):
    at_once, one_by_one = linear_agent(), linear_agent()
    assert at_once.learn_many(*rows) == 50
    for row in zip(*rows, strict=True):
        one_by_one.learn(*row)
    assert at_once.observations == 50
    for mine, its in zip(jax.tree.leaves(at_once._state), jax.tree.leaves(one_by_one._state), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-3, atol=1e-4)


def test_refits_after_a_history_see_all_of_it():
    ones = np.ones((10, 1))
    few, all_of_them = sums_agent(), sums_agent()
    for agent, refits, seen in ((few, 2, 10), (all_of_them, "all", 8)):
        assert agent.learn_many(ones, [0] * 10, np.arange(10.0), refits=refits) == 10
        assert (int(agent._state["rows"]), float(agent._state["sum"])) == (seen, 45)
    with pytest.raises(UsageError, match="refits must be"):
        few.learn_many(ones, [0] * 10, ones[:, 0], refits=0)
    assert few.learn_many(np.zeros((0, 1)), [], np.zeros(0)) == 0


def test_rows_of_a_history_that_spoil_the_state_are_refused_alone(rows):
    contexts, actions, rewards = rows
    spoilt = np.where(np.arange(50) == 20, 1e30, rewards)
    agent, clean = linear_agent(), linear_agent()
    assert agent.learn_many(contexts, actions, spoilt) == 49
    clean.learn_many(*(np.delete(part, 20, axis=0) for part in rows))
    assert agent.counts()["refused_updates"] == 1
    np.testing.assert_allclose(agent._state[0].mean, clean._state[0].mean, rtol=1e-3, atol=1e-4)


def test_a_history_counts_as_warm_up(rows):
    agent = linear_agent()  # three pulls of each action
    agent.learn_many(rows[0][:7], [0, 0, 0, 0, 1, 1, 1], rows[2][:7])
    assert [agent.choose([1.0, 0.0]) for _ in range(3)] == [2, 2, 2]
    assert agent._decider.clock.owed == []
    assert agent._decider.clock.step == 10  # 7 rows and 3 decisions
    fresh = linear_agent()
    assert [fresh.choose([1.0, 0.0]) for _ in range(4)] == [0, 1, 2, 0]
    fresh.learn_many(rows[0][:2], [1, 1], rows[2][:2])
    assert [fresh.choose([1.0, 0.0]) for _ in range(3)] == [2, 0, 2]


def test_many_choices_are_those_of_single_ones(rows):
    contexts, actions, rewards = rows
    many, single = linear_agent(), linear_agent()
    for agent in (many, single):
        agent.learn_many(contexts[:20], actions[:20], rewards[:20])
    assert many.choose_many(contexts[:11]) == [single.choose(context) for context in contexts[:11]]
    assert many.decisions == single.decisions == 11
    assert many.choose_many([]) == []


# What refits see


@pytest.mark.parametrize("name", ["LinFullPost", "GP"])
def test_a_bound_that_would_change_nothing_is_refused(name):
    with pytest.raises(UsageError, match="would change nothing"):
        Agent(policies.get(name), context_dim=2, num_actions=2, history=Window(50))


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((2.0, 3), "whole numbers, not 2.0"),
        (("2", 3), "whole numbers, not '2'"),
        ((2, 3, ""), "whole numbers, not ''"),
        ((2, 3, -1), "action_dim is how many features"),
        ((2, None), "needs context_dim and num_actions"),
        ((2, 1), "a context and a choice"),
        ((0, 2), "a context and a choice"),
    ],
)
def test_sizes_that_make_no_agent_are_refused(sizes, sentence):
    with pytest.raises(UsageError, match=sentence):
        Agent(LINEAR, **dict(zip(("context_dim", "num_actions", "action_dim"), sizes, strict=False)))


@pytest.mark.parametrize("bound", [500, "Window(500)"])
def test_a_bound_says_how_it_keeps_rows(bound):
    with pytest.raises(UsageError, match=r"bounded by Window\(rows\) or Reservoir\(rows\), not by"):
        Agent(policies.get("LinWindow"), context_dim=2, num_actions=2, history=bound)


def test_a_file_of_a_version_that_took_such_a_bound_is_loaded(tmp_path, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr("showdown.agent.learner.takes_bound", lambda policy: True)
        Agent(policies.get("GP"), context_dim=2, num_actions=2, history=Window(50)).save(tmp_path / "agent.npz")
    assert Agent.load(tmp_path / "agent.npz")._learner.history.bound is None


@pytest.mark.parametrize(("bound", "first"), [(Window(6), {14}), (Reservoir(6), set(range(15)))])
def test_a_bounded_history_keeps_its_size_and_survives_a_file(bound, first, tmp_path):
    agent = sums_agent(history=bound)
    for number in range(19):
        if number == 9:
            agent.save(tmp_path / "agent.npz")
            agent = Agent.load(tmp_path / "agent.npz")
        agent.learn([number], 0, 1.0)
    agent.learn([19], 0, 1.0)
    assert (int(agent._state["rows"]), float(agent._state["fit"]), agent.observations) == (6, 6, 20)
    assert float(agent._state["sum"]) == 20  # the exact part of the state has seen all
    assert float(agent._state["first"]) in first
    assert agent._learner.history.capacity == 6


def test_a_reservoir_keeps_every_row_alike():
    kept = np.zeros(40)
    for seed in range(200):
        history = ReplayBuffer(1, Reservoir(10), seed, keeps=True)
        for number in range(40):
            history.append(np.array([number], np.float32), 0, np.float32(0))
        kept[history.inputs[:, 0].astype(int)] += 1
    assert abs(kept - 50).max() < 5 * np.sqrt(200 * 0.25 * 0.75)  # false alarm: 40 tails beyond 5 deviations, 2e-5


def test_rows_that_spoil_a_refit_are_forgotten():
    agent = sums_agent()
    for reward in (1.0, 1.0, 1.0, 1.0, 1.0, 1000.0, 1.0, 1.0):
        assert agent.learn([0.0], 0, reward)
    counts = agent.counts()
    assert (counts["refused_refits"], counts["forgotten_rows"]) == (1, 4)
    for _ in range(4):
        agent.learn([0.0], 0, 1.0)
    assert (int(agent._state["rows"]), float(agent._state["fit"])) == (8, 8)


def test_rows_that_spoil_a_refit_are_forgotten_after_those_of_an_action():
    agent = sums_agent()
    for action, reward in ((0, 1.0), (0, 1.0), (1, 1.0), (1, 1.0), (1, 1000.0)):
        agent.learn([0.0], action, reward)
    agent._learner.forget_action(0)
    for _ in range(3):
        agent.learn([0.0], 1, 1.0)
    assert agent.counts()["forgotten_rows"] == 2 + 4
    for _ in range(4):
        agent.learn([0.0], 1, 1.0)
    assert (int(agent._state["rows"]), float(agent._state["fit"])) == (6, 6)


def test_a_history_that_spoils_its_refit_is_refused_and_older_rows_stay(tmp_path):
    agent = sums_agent()
    for _ in range(4):
        agent.learn([0.0], 0, 1.0)
    agent.save(tmp_path / "agent.npz")
    loaded = Agent.load(tmp_path / "agent.npz")
    assert loaded.learn_many(np.zeros((5, 1)), [0] * 5, [1.0, 1.0, 1000.0, 1.0, 1.0]) == 0
    assert loaded._learner.history.count == 4
    assert loaded.counts()["refused_refits"] == 1


def test_background_refits_catch_up_with_what_came_meanwhile():
    agent = sums_agent(background=True)
    agent.warm()
    for _ in range(40):
        agent.learn([0.0], 0, 1.0)
    agent.wait()
    assert float(agent._state["sum"]) == 40
    seen = int(agent._state["rows"])
    assert seen % 4 == 0
    assert 4 <= seen <= 40
    agent.close()


def test_the_next_size_is_compiled_before_it_is_needed():
    agent = sums_agent()
    agent.warm()
    agent.learn_many(np.zeros((600, 1)), [0] * 600, np.zeros(600), refits=1)
    agent.learn([0.0], 0, 1.0)
    agent.wait()
    assert {1024, 2048} <= agent._learner._ready


def test_room_made_beforehand_is_used():
    agent = sums_agent()
    agent.warm(rows=1500)
    assert agent._learner._ready == {4096}
    agent.learn_many(np.zeros((1100, 1)), [0] * 1100, np.ones(1100), refits=1)
    assert float(agent._state["fit"]) == 1100
    agent.wait()


def test_a_history_is_nearly_full_only_after_the_rows_it_made_room_for():
    history = ReplayBuffer(1, None, 0, keeps=True)
    for rows in (0, 512, 1500, 65_536):
        history.reserve(rows)
        history.count = max(rows, 512)
        assert not history.nearly_full
        history.count = history.capacity - 1
        assert history.nearly_full


def test_turns_are_short_while_a_thread_works_and_as_before_afterwards():
    before, begun, go_on = sys.getswitchinterval(), Event(), Event()
    background = Background(None, None, None, RLock())
    background.submit(lambda: begun.set() or go_on.wait(30))
    assert begun.wait(30)
    assert background.busy
    with short_turns():
        assert sys.getswitchinterval() < before
    assert sys.getswitchinterval() < before
    go_on.set()
    background.close()
    assert sys.getswitchinterval() == before
    assert not background.busy


# With a table


@pytest.fixture(scope="module")
def customers():
    draw = np.random.default_rng(1)
    ages = draw.integers(18, 80, 60)
    frame = pd.DataFrame(
        {"age": ages, "region": draw.choice(["north", "south"], 60), "bought": np.where(ages > 40, "plus", "basic")}
    )
    return table(frame, label="bought")


@pytest.fixture(scope="module")
def shop(customers) -> Agent:
    return Agent.for_table(customers, LINEAR)


def test_a_recommendation_becomes_an_agent(customers, tmp_path):
    agent = Agent.recommended(write_agent_file("LinFullPost", customers, tmp_path / "agent.json"))
    assert agent.policy == LINEAR
    assert agent.choose({"age": 41, "region": "north"}) in {"plus", "basic"}
    (tmp_path / "other.json").write_text("[1]")
    for path in (tmp_path / "other.json", tmp_path / "missing.json", tmp_path):
        with pytest.raises(UsageError, match=r"is not a recommendation|cannot read"):
            Agent.recommended(path)


def test_rows_in_and_names_out(shop, tmp_path):
    row = {"age": 41, "region": "north"}
    series, frame = pd.Series(row), pd.DataFrame([row])
    for given in (row, series, frame, [41, "north"]):
        assert shop.choose(given) in {"plus", "basic"}
    decision = shop.decide({"age": None, "region": "mars", "new": 3}, available=["plus"])
    assert (decision.name, decision.propensity) == ("plus", 1.0)
    assert shop.reward(decision.id, 1.0)
    assert shop.learn(row, "basic", 0.0)
    assert set(shop.choose_many(pd.DataFrame([row, row]))) <= {"plus", "basic"}
    unusual = shop.counts()["encoder"]
    assert (unusual["missing"], unusual["new_columns"]) == ({"age": 1}, {"new": 1})
    assert sum(unusual["unknown"].values()) == 1
    shop.save(tmp_path / "shop.npz")
    loaded = Agent.load(tmp_path / "shop.npz")
    assert loaded.counts()["encoder"] == unusual
    assert loaded.choose(row) == shop.choose(row)
    shop.choose({"age": None, "region": "north"})
    assert loaded.counts()["encoder"]["missing"] == unusual["missing"]  # each counts for itself from here on


def test_bad_calls_give_what_the_documentation_says():
    spec = spec_from_file_location("write_faults", DOCS / "write_faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    agents = module.agents()
    before = [jax.tree.leaves(agent._state) for agent in agents]
    before = jax.tree.map(np.array, before)
    page = module.HEAD + "\n| call | what it gives |\n|---|---|\n"
    for written, call in module.calls(*agents).items():
        page += f"| `{written}` | {module.outcome(call)} |\n"
    assert (DOCS / "faults.md").read_text() == page, "docs/faults.md is out of date: run `make docs`"
    for agent, kept in zip(agents, before, strict=True):
        assert (agent.decisions, agent.observations) == (0, 0)
        for leaf, old in zip(jax.tree.leaves(agent._state), kept, strict=True):
            np.testing.assert_array_equal(leaf, old)


# Threads


def test_threads_share_an_agent_and_nothing_is_lost():
    agent, calls = sums_agent(remember=100), 1000

    def serve(thread: int) -> int:
        taken = 0
        for number in range(calls):
            if number % 2:
                taken += agent.reward(agent.decide([0.0], draws=1).id, 1.0)
            else:
                taken += agent.learn([0.0], agent.choose([0.0]), 1.0)
        return taken

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(serve, range(8))) == 8 * calls
    assert (agent.decisions, agent.observations) == (8 * calls, 8 * calls)
    assert float(agent._state["sum"]) == 8 * calls
    assert int(agent._state["rows"]) == 8 * calls


# Files of older versions

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize("name", ["LinFullPost", "NeuralLinear"])
def test_files_of_format_3_are_read(name):
    agent = Agent.load(FIXTURES / f"agent-format-3-{name}.npz")
    assert (agent.decisions, agent.observations) == (20, 20)
    draw = np.random.default_rng(0)
    contexts, rewards = draw.normal(size=(40, 3)), draw.normal(size=(40, 3))
    chosen = []
    for step in range(20, 28):
        chosen.append(agent.choose(contexts[step]))
        agent.learn(contexts[step], chosen[-1], rewards[step, chosen[-1]])
    assert chosen == json.loads((FIXTURES / "agent-format-3.json").read_text())[name][:8]


def test_a_file_of_format_1_is_refused_with_advice():
    with pytest.raises(UsageError, match=r"in another format; learn its history anew with `learn_many`"):
        Agent.load(FIXTURES / "agent-format-1-LinFullPost.npz")
