"""Agents whose actions have features: the same decisions as in a simulation, any set of actions, what is refused."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest

from showdown.agent import Agent, UnknownDecisionError
from showdown.agent.offer import all_sizes, places_for
from showdown.agent.together import DecideCall, LearnCall, ProbabilitiesCall, RewardCall
from showdown.basics.errors import UsageError
from showdown.play.prepared import prepare
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems, table

ROWS, STEPS = 60, 40
ITEMS = replace(problems.get("items"), action_dim=3, num_items=4, horizon=STEPS)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Three cars, a household's income, and the choice, always the cheapest."""
    draw = np.random.default_rng(4)
    prices = draw.uniform(1, 9, (ROWS, 3)).round(2)
    columns = {f"price{action + 1}": prices[:, action] for action in range(3)}
    columns |= {f"fuel_{action + 1}": draw.choice(["gas", "oil"], ROWS) for action in range(3)}
    columns |= {"income": draw.normal(size=ROWS)}
    return pd.DataFrame({**columns, "choice": [f"car{action + 1}" for action in prices.argmin(axis=1)]})


@pytest.fixture(scope="module")
def problem(frame):
    return table(frame, label="choice", features="all")


def offered(row) -> dict[str, dict]:
    return {f"car{number}": {"price": row[f"price{number}"], "fuel": row[f"fuel_{number}"]} for number in (1, 2, 3)}


def numeric(name: str = "LinUCB", **options) -> Agent:
    return Agent(policies.get(name).small(), context_dim=1, num_actions=4, action_dim=3, **options)


def same(one, other):
    for mine, its in zip(jax.tree.leaves(one._state), jax.tree.leaves(other._state), strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("name", ["LinUCB", "LinHybrid", "NeuralLinear"])
def test_an_agent_plays_the_actions_of_a_simulation(name):
    policy = policies.get(name).small()
    played = simulate(policy, ITEMS, trials=2, keep_propensities=True).decisions
    prepared = prepare(policy, ITEMS, trials=2)
    keys = prepared.keys(0, range(2))
    episode, tables = ITEMS.begin(keys[0][1], prepared.tables), prepared.tables
    agent = Agent(policy, **ITEMS.spec(tables)._asdict(), key=keys[1][1])
    rounds = jax.vmap(lambda step: ITEMS.round(step, episode, tables))(np.arange(STEPS))
    for step in range(STEPS):
        context, features = np.asarray(rounds.context[step]), np.asarray(rounds.features[step])
        action = agent.choose(context, actions=features)
        assert action == played.actions[1, step]
        agent.learn(context, action, float(rounds.rewards[step, action]), features=features[action])


def test_rows_and_features_of_a_table_are_what_the_benchmark_saw(frame, problem):
    agent = Agent.for_table(problem, policies.get("LinUCB"))
    tables = problem.load()
    episode = problem.begin(jax.random.key(0), tables)  # its scaling is that of all rows, as the encoder's is
    place = int(np.flatnonzero(np.asarray(episode.order) == 7)[0])
    row = frame.iloc[7]
    offer = agent._codec.offer(None, offered(row))
    np.testing.assert_allclose(offer.features, problem.action_features(place, episode, tables), atol=1e-5)
    np.testing.assert_allclose(agent._codec.context(row), problem.context(place, episode, tables), atol=1e-5)
    assert agent.decide(row, actions=offered(row)).name in ("car1", "car2", "car3")


def test_it_learns_to_take_the_cheapest_and_a_new_car_is_known_by_its_price(frame, problem):
    agent = Agent.for_table(problem, policies.get("LinGreedy"))
    for _, row in frame.iterrows():
        decision = agent.decide(row, actions=offered(row))
        agent.reward(decision.id, float(decision.name == row["choice"]))
    new = {**offered(frame.iloc[0]), "brand new": {"price": 0.5, "fuel": "oil"}, "dear": {"price": 20, "fuel": "oil"}}
    assert agent.choose(frame.iloc[0], actions=new) == "brand new"
    assert agent.choose(frame.iloc[0], actions=new, available=["dear", "car2"]) == "car2"
    assert agent.choose(frame.iloc[0], actions={"only": {"price": 3, "fuel": "gas"}}) == "only"


def test_any_number_of_actions_in_few_sizes():
    assert [places_for(count, 6) for count in (1, 4, 5, 6, 7, 100)] == [4, 4, 6, 6, 16, 256]
    assert (places_for(2, 3), all_sizes(20), all_sizes(3)) == (3, [20, 4, 16], [3])
    agent, draw = numeric(), np.random.default_rng(0)
    for count in (3, 4, 7):
        actions = {f"item {number}": draw.normal(size=3).tolist() for number in range(count)}
        decision = agent.decide([0.0], actions=actions)
        assert decision.name in actions
        (chances,) = agent.answer_together([ProbabilitiesCall([0.0], None, actions)])
        assert (chances.names, round(float(chances.law.values.sum()), 3)) == (list(actions), 1.0)
        assert agent.reward(decision.id, 1.0)


def test_calls_that_wait_together_are_answered_as_alone():
    draw = np.random.default_rng(1)
    few, many = ({f"i{n}": draw.normal(size=3) for n in range(count)} for count in (3, 9))
    alone, together = numeric(), numeric()
    for agent in (alone, together):
        agent.learn_many(np.zeros((20, 1)), ["x"] * 20, np.arange(20.0), features=draw.normal(size=(20, 3)) * 0 + 1)
    first = [alone.decide([0.0], actions=each) for each in (few, many, few)]
    made = together.answer_together([DecideCall([0.0], None, each) for each in (few, many, few)])
    assert [one.name for one in made if hasattr(one, "name")] != []
    assert {one.name for one in made} <= {*few, *many}
    answers = together.answer_together(
        [
            RewardCall(made[1].id, 1.0),
            LearnCall([0.0], "z", 0.5, [1.0, 2.0, 3.0]),
            ProbabilitiesCall([0.0], None, few),
            DecideCall([0.0], None, {"a": [1.0]}),
            DecideCall([0.0]),
        ]
    )
    assert answers[:2] == [True, True]
    assert answers[2].names == list(few)
    assert "the features of the action 'a'" in str(answers[3])
    assert "actions={name: features" in str(answers[4])
    alone.reward(first[1].id, 1.0)
    assert alone.observations == 21


@pytest.mark.parametrize("name", ["LinUCB", "LinHybrid", "NeuralLinear"])
def test_saved_files_and_journals_keep_features(tmp_path, name):
    draw, path = np.random.default_rng(2), tmp_path / "agent.npz"
    agent = numeric(name, journal=tmp_path / "journal")
    names = [0, 1, 2, 3]
    ids = [agent.decide([0.1], actions=dict(zip(names, draw.normal(size=(4, 3)), strict=True))).id for _ in range(12)]
    for id in ids[:5]:
        agent.reward(id, 1.0)
    agent.save(path)
    for id in ids[5:9]:
        agent.reward(id, 0.5)
    agent.learn([0.3], 2, 2.0, features=[1.0, 0.0, 1.0])
    agent.learn_many([[0.1]] * 3, [0, 1, 2], [1.0, 2.0, 3.0], features=draw.normal(size=(3, 3)))
    later = agent.decide([0.1], actions=dict(zip(names, draw.normal(size=(4, 3)), strict=True)))
    agent.close()
    again = Agent.load(path, journal=tmp_path / "journal")
    same(agent, again)
    assert again.reward(later.id, 1.0)
    assert agent.reward(later.id, 1.0)
    same(agent, again)
    with pytest.raises(UnknownDecisionError):
        again.reward(ids[0], 1.0)
    assert again.counts()["waiting"] == 3


@pytest.mark.parametrize("name", [1, "1", np.int64(1)])
def test_a_number_names_the_same_action_in_every_spelling(name):
    agent = numeric()
    for actions in ({"0": [1, 2, 3], "1": [4, 5, 6]}, [[1, 2, 3], [4, 5, 6]]):
        assert str(agent.choose([0.0], actions=actions, available=[name])) == "1"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda agent: agent.decide([0.0]), "each decision needs its actions with their features"),
        (lambda agent: agent.decide([0.0], actions={}), "no action is offered"),
        (lambda agent: agent.decide([0.0], actions="ab"), "given by name, each with its features, not as str"),
        (lambda agent: agent.decide([0.0], actions={"a": [1, 2]}), "the features of the action 'a': a context has 3"),
        (lambda agent: agent.decide([0.0], actions={"a": [1, 2, "x"]}), "must hold numbers, not text"),
        (lambda agent: agent.decide([0.0], actions={"a": [1, 2, float("nan")]}), "finite"),
        (lambda agent: agent.decide([0.0], actions={"a": [1, 2, 1e30]}), "at most 1e"),
        (lambda agent: agent.decide([0.0], actions=np.zeros((10_001, 3))), "at most 10,000 actions"),
        (lambda agent: agent.decide([0.0], actions={"a": [1, 2, 3]}, available=["b"]), "not among the actions offered"),
        (lambda agent: agent.decide([0.0], actions={"True": [1, 2, 3]}, available=[True]), "not among the actions"),
        (lambda agent: agent.decide([0.0], actions={"a": [1, 2, 3]}, available=[]), "no action is available"),
        (lambda agent: agent.learn([0.0], "a", 1.0), "needs the features that it had"),
        (lambda agent: agent.learn_many([[0.0]], ["a"], [1.0]), "each row needs the features of its action"),
    ],
)
def test_what_is_refused_changes_nothing(call, sentence):
    agent = numeric()
    with pytest.raises(UsageError, match=sentence.replace("{", r"\{")):
        call(agent)
    assert (agent.decisions, agent.observations) == (0, 0)


def test_actions_without_features_and_policies_that_cannot(problem, frame):
    plain = Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3)
    for call in (
        lambda: plain.choose([0.0, 1.0], actions={"a": [1.0]}),
        lambda: plain.learn([0.0, 1.0], 1, 1.0, features=[1.0]),
        lambda: plain.learn_many([[0.0, 1.0]], [1], [1.0], features=[[1.0]]),
    ):
        with pytest.raises(UsageError, match="actions of this agent have no features"):
            call()
    with pytest.raises(UsageError, match="cannot use features of actions"):
        numeric("GP")
    with pytest.raises(UsageError, match="learns from the features of all actions"):
        numeric("Council-fast-1")
    hybrid = Agent.for_table(problem, policies.get("LinHybrid"))
    with pytest.raises(UsageError, match="no action is called 'new'"):
        hybrid.choose(frame.iloc[0], actions={"new": {"price": 1, "fuel": "gas"}})
    with pytest.raises(UsageError, match="the action 'car1' has no column 'fuel'"):
        hybrid.choose(frame.iloc[0], actions={"car1": {"price": 1}})
    assert hybrid.choose(frame.iloc[0], actions={"car2": {"price": 1, "fuel": None}}) == "car2"


def test_the_same_over_http(tmp_path, problem, frame, over_http):
    row = frame.iloc[0]
    actions = {name: {"price": float(each["price"]), "fuel": each["fuel"]} for name, each in offered(row).items()}
    context = {"income": float(row["income"])}
    with over_http(Agent.for_table(problem, policies.get("LinUCB")), tmp_path / "agent.npz") as ask:
        status, chosen = ask("/choose", {"context": context, "actions": {**actions, "new": actions["car1"]}})
        assert (status, chosen["action"] in {*actions, "new"}) == (200, True)
        assert ask("/learn", {"id": chosen["id"], "reward": 1}) == (200, {"learned": True})
        told = {"context": context, "action": "new", "features": actions["car1"], "reward": 0.5}
        assert ask("/learn", told) == (200, {"learned": True})
        status, law = ask("/probabilities", {"context": context, "actions": actions})
        assert (status, set(law["probabilities"])) == (200, set(actions))
        assert sum(law["probabilities"].values()) == pytest.approx(1)
        for path, body, sentence in (
            ("/choose", {"context": context}, "each decision needs its actions with their features"),
            ("/choose", {"context": context, "actions": []}, "actions must be an object with the features of each"),
            (
                "/choose",
                {"context": context, "actions": {"a": 3}},
                "actions must be an object with the features of each",
            ),
            ("/choose", {"context": context, "actions": {"a": {"price": 1}}}, "the action 'a' has no column 'fuel'"),
            ("/choose", {"context": context, "actions": {"a": {"price": [1], "fuel": "x"}}}, "holds a list"),
            ("/learn", {"id": "x", "reward": 1, "features": {}}, "give the id of a decision, or a context"),
            ("/learn", {"context": context, "action": "a", "reward": 1}, "needs the features that it had"),
        ):
            status, answer = ask(path, body)
            assert (status, sentence in answer["error"]) == (422, True), answer
        page = ask("/docs")[1]
        assert "Features of an action" in page
        assert "actions" in page


def test_a_recommendation_for_such_a_table_can_be_served(tmp_path, frame):
    pytest.importorskip("httptools")
    from showdown.recommendation import recommend
    from showdown.serve.run import open_agent

    frame.to_csv(tmp_path / "cars.csv", index=False)
    options = {"label": "choice", "features": "all", "budget": "60s", "policies": ["LinUCB"], "page": False}
    found = recommend(tmp_path / "cars.csv", out=tmp_path / "out", **options)
    assert found.policy == "LinUCB"
    assert found.costs["LinUCB"].decide_seconds > 0
    assert any("showdown serve" in line for line in found.lines)
    agent = open_agent(found.agent_file, tmp_path / "agent.npz", new={"seed": 1})
    assert agent.decide(frame.iloc[1], actions=offered(frame.iloc[1])).name.startswith("car")
    agent.close()
