"""Propensities that the simulator keeps: those of the agent, and nothing else changes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent import Agent
from showdown.config import config
from showdown.play.prepared import prepare
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.testing import scripted

STEPS, DIM, ACTIONS = 21, 2, 3


@pytest.fixture(name="problem", scope="module")
def make_problem():
    draw = np.random.default_rng(0)
    return scripted(draw.normal(size=(STEPS, DIM)), draw.normal(size=(STEPS, ACTIONS)))


def test_they_are_those_of_an_agent_and_change_nothing(problem):
    """An agent plays the actions of a simulation without propensities (test_agent), so they are the same with them."""
    policy = policies.get("LinFullPost")
    kept = simulate(policy, problem, trials=2, keep_propensities=True, segment_steps=8)
    prepared = prepare(policy, problem, trials=2)
    agent = Agent(policy, context_dim=DIM, num_actions=ACTIONS, key=prepared.keys(0, range(2))[1][1])
    for step in range(STEPS):
        context = np.asarray(problem.context(step, problem.begin(jax.random.key(0), prepared.tables), prepared.tables))
        decision = agent.decide(context)
        actions, rewards, propensities = (array[1, step] for array in kept.decisions)
        assert decision.action == actions
        assert decision.propensity == pytest.approx(propensities, rel=1e-4)
        agent.reward(decision.id, float(rewards))
    assert (kept.decisions.propensities[:, : 3 * ACTIONS] == 1).all()  # the warm-up
    assert (kept.decisions.propensities[:, 3 * ACTIONS :] < 1).all()


@config
class Coins(Policy):
    """States no law."""

    def init(self, key, spec):
        return ()

    def act(self, key, state, situation):
        return jax.random.bernoulli(key, 0.3).astype(jnp.int32)


def test_a_policy_that_states_no_law_is_drawn_from(problem):
    actions, _, propensities = simulate(Coins(), problem, trials=2, keep_propensities=True).decisions
    np.testing.assert_allclose(201 * propensities, np.round(201 * propensities), atol=1e-3)
    assert propensities[actions == 0].mean() == pytest.approx(0.7, abs=0.02)
    assert propensities[actions == 1].mean() == pytest.approx(0.3, abs=0.02)
