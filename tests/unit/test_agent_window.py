"""Histories with a bound: schedules go on, a bound can be set later, and what is never read is not kept."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent import Agent, Reservoir, Window
from showdown.agent.replay_buffer import ReplayBuffer
from showdown.config import config
from showdown.policies import policies
from showdown.protocol.policy import Policy

ROWS = 1013  # in the second stage of a network's schedule, of which not every refit trains
COUNCIL = policies.get("Council-fast").small()


@config
class Counts(Policy):
    """Counts the rows that refits see."""

    refit_every: int = 4

    def init(self, key, spec):
        return jnp.int32(0)

    def act(self, key, state, situation):
        return jnp.int32(0)

    def refit(self, key, state, history):
        return history.count


def rows(count: int):
    draw = np.random.default_rng(0)
    return draw.normal(size=(count, 2)), draw.integers(3, size=count), draw.normal(size=count)


def council(bound) -> Agent:
    return Agent(COUNCIL, context_dim=2, num_actions=3, history=bound)


def weights(agent: Agent) -> list[np.ndarray]:
    return [np.array(leaf) for leaf in jax.tree.leaves(agent._state.features.averaged)]


def moved(before, agent) -> bool:
    return any((one != other).any() for one, other in zip(before, weights(agent), strict=True))


@pytest.mark.parametrize("bound", [Window(1010), Reservoir(1010)])
def test_a_network_goes_on_training_when_its_history_is_full(bound):
    agent = council(bound)
    untrained = weights(agent)
    assert agent.learn_many(*rows(ROWS), refits=1) == ROWS
    assert moved(untrained, agent)  # whatever its schedule says of 1,013 rewards
    before = weights(agent)
    contexts, actions, rewards = (part[:36].astype(kind) for part, kind in zip(rows(36), ("f", "i", "f"), strict=True))
    agent._learner.learn_rows(contexts, actions, rewards)  # one training is due in five refits of six rewards
    assert agent.observations == ROWS + 36
    assert moved(before, agent)


@pytest.mark.parametrize(("bound", "more"), [(Window(6), 8), (Window(40), 8), (Reservoir(6), 8)])
def test_a_bound_that_comes_later(tmp_path, bound, more):
    agent = Agent(Counts(), context_dim=2, num_actions=3)
    contexts, actions, rewards = rows(20 + more)
    agent.learn_many(contexts[:20], actions[:20], rewards[:20], refits=1)
    agent.save(tmp_path / "agent.npz")
    bounded = Agent.load(tmp_path / "agent.npz", history=bound)
    for row in zip(contexts[20:], actions[20:], rewards[20:], strict=True):
        bounded.learn(*row)
    kept = bounded._learner.history.rows()
    seen = kept.rewards[: kept.filled].tolist()
    if isinstance(bound, Window):
        np.testing.assert_allclose(seen, rewards[-min(bound.rows, 28) :], rtol=1e-6)
    else:
        assert (len(seen), set(seen) <= set(rewards.astype(np.float32).tolist())) == (6, True)
    bounded.save(tmp_path / "bounded.npz")
    again = Agent.load(tmp_path / "bounded.npz")
    assert again._learner.history.bound == bound
    np.testing.assert_array_equal(again._learner.history.rows().rewards, kept.rewards)


def test_what_is_never_read_is_not_kept(tmp_path):
    agent = Agent(policies.get("GP").small(), context_dim=2, num_actions=3)
    for row in zip(*rows(10), strict=True):
        agent.learn(*row)
    assert agent._learner.history.capacity == 0
    agent.save(tmp_path / "agent.npz")
    same = Agent.load(tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as stored:
        parts = dict(stored)
    assert parts["rewards"].shape == (0,)
    # a file of an older version, which kept them
    about = parts["about"].tobytes().replace(b'"seen": 0', b'"seen": 10')
    contexts, actions, rewards = rows(10)
    parts |= {"about": np.frombuffer(about, np.uint8), "contexts": contexts.astype("f"), "rewards": rewards.astype("f")}
    np.savez(tmp_path / "old.npz", **(parts | {"actions": actions.astype(np.int32)}))
    old = Agent.load(tmp_path / "old.npz")
    assert old.observations == same.observations == 10
    assert old._learner.history.capacity == 0
    old.save(tmp_path / "agent.npz")
    assert Agent.load(tmp_path / "agent.npz").observations == 10


def test_a_window_remembers_the_last_rows_in_order():
    history = ReplayBuffer(1, Window(3), 0, keeps=True)
    for number in range(8):
        history.append(np.array([number], np.float32), 0, np.float32(number))
        assert history.rows().rewards[: history.count].tolist() == list(range(max(0, number - 2), number + 1))
