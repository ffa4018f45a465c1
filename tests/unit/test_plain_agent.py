"""An agent whose policy is plain Python: decisions, propensities, files and journals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.config import from_json, to_json
from showdown.plain import as_policy

SIZES = {"context_dim": 2, "num_actions": 2}


class Means:
    """The larger mean reward so far, whatever the context, or now and then the other one."""

    def __init__(self, epsilon=0.2):
        self.epsilon = epsilon

    def begin(self, num_actions, rng):
        self.rng, self.sums, self.counts = rng, np.zeros(num_actions), np.zeros(num_actions)

    def choose(self, context, available=None):
        means = self.sums / np.maximum(self.counts, 1)
        open_to_play = np.ones(2, bool) if available is None else available
        if self.rng.random() < self.epsilon:
            return int(self.rng.choice(np.flatnonzero(open_to_play)))
        return int(np.where(open_to_play, means, -np.inf).argmax())

    def learn(self, context, action, reward):
        if reward < 0:
            raise ValueError("a negative reward")
        self.sums[action] += reward
        self.counts[action] += 1


class Stated(Means):
    def probabilities(self, context, available=None):
        means = self.sums / np.maximum(self.counts, 1)
        law = np.full(2, self.epsilon / 2)
        law[means.argmax()] += 1 - self.epsilon
        return law


def trained(policy, **options):
    agent = Agent(policy, **SIZES, **options)
    for step in range(30):
        decision = agent.decide([1.0, step])
        assert agent.reward(decision.id, float(decision.action))
    return agent


def test_it_decides_learns_and_says_how_probable_its_decisions_are():
    agent = trained(as_policy(Means()))
    assert agent.counts()["observations"] == 30
    chances = agent.probabilities([0.0, 0.0])
    assert chances.draws == 200
    assert chances.values[1] == pytest.approx(0.9, abs=0.1)
    exact = trained(as_policy(Stated())).probabilities([0.0, 0.0])
    assert exact.draws == 0
    assert exact.values.tolist() == pytest.approx([0.1, 0.9])
    assert {agent.choose([0.0, 0.0], available=[0]) for _ in range(10)} == {0}


def test_a_saved_one_learns_its_rows_again_and_a_journal_goes_on(tmp_path):
    policy = as_policy(Stated())
    with trained(policy, journal=tmp_path / "journal") as agent:
        agent.save(tmp_path / "agent.npz")
        agent.learn([0.0, 1.0], 0, 50.0)
    with Agent.load(tmp_path / "agent.npz", journal=tmp_path / "journal") as back:
        assert back.observations == 31
        assert back.policy == policy
        assert back.probabilities([0.0, 0.0]).values.tolist() == pytest.approx([0.9, 0.1])
    assert from_json(json.loads(json.dumps(to_json(policy)))) == policy


def test_what_its_code_refuses_is_counted_and_what_it_cannot_do_is_said():
    agent = Agent(as_policy(Means()), **SIZES)
    with pytest.warns(UserWarning, match="raises ValueError while it learns .*a negative reward"):
        assert not agent.learn([0.0, 0.0], 1, -1.0)
    assert not agent.learn([0.0, 0.0], 1, -1.0)
    assert agent.counts()["refused_updates"] == 2
    with pytest.raises(UsageError, match="features of actions"):
        Agent(as_policy(lambda context, features: 0), **SIZES, action_dim=2)
    with pytest.raises(UsageError, match="let it take `available`"):
        Agent(as_policy(lambda context: 0), **SIZES).choose([0.0, 0.0], available=[1])


class Stays(Means):
    def choose(self, context):
        return 0


def test_its_actions_are_those_that_it_was_told_of(tmp_path):
    agent = trained(as_policy(Means()), journal=tmp_path / "journal")
    with pytest.raises(UsageError, match="plain Python is told once how many actions"):
        agent.add_action("new")
    with pytest.raises(UsageError, match="plain Python is told once how many actions"):
        Agent(as_policy(Means()), **SIZES, room=1)
    agent.remove_action(1)
    assert {agent.choose([0.0, 0.0]) for _ in range(10)} == {0}
    with pytest.raises(UsageError, match="plain Python is told once how many actions"):
        agent.add_action("in its place")
    with pytest.raises(UsageError, match="the policy decides among all actions"):
        Agent(as_policy(Stays()), **SIZES).remove_action(1)


def test_a_file_of_code_that_is_not_loaded_is_refused_in_a_sentence():
    stored = to_json(as_policy(Means()))
    with pytest.raises(UsageError, match="not loaded here: --load the file that registers it"):
        from_json({**stored, "code": "0123456789abcdef"}).check()
