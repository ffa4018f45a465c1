"""The loop: the same numbers however it is cut, regret by hand, and refusals."""

from __future__ import annotations

import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent import Agent
from showdown.basics.errors import DivergedError, InvalidProblemError, UsageError
from showdown.config import config
from showdown.play import batch_size, batches
from showdown.play.memory import free_bytes, trials_that_fit
from showdown.play.prepared import prepare
from showdown.play.programs import jobs
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.keys import key_data, role_key, trial_keys
from showdown.protocol.policy import Policy

WHEEL = problems.get("wheel-0.5")


def numbers(outcome):
    return outcome.cumulative, outcome.simple, outcome.curve, outcome.action_counts


def assert_same_numbers(one, other):
    for a, b in zip(numbers(one), numbers(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)  # the host adds in float64, in another order


@pytest.fixture(scope="module")
def whole():
    return simulate(policies.get("LinFullPost"), WHEEL, trials=4, horizon=120)


@pytest.mark.parametrize("cut", [{"segment_steps": 7}, {"segment_steps": 50}, {"batch_trials": 3}, {"batch_trials": 1}])
def test_numbers_do_not_depend_on_segments_or_batches(whole, cut):
    assert_same_numbers(simulate(policies.get("LinFullPost"), WHEEL, trials=4, horizon=120, **cut), whole)


def test_trial_is_the_same_beside_more_trials(whole):
    more = simulate(policies.get("LinFullPost"), WHEEL, trials=6, horizon=120)
    np.testing.assert_array_equal(more.curve[:4], whole.curve)


def test_the_cores_of_a_cpu_play_batches_at_the_same_time(whole, monkeypatch):
    monkeypatch.setattr(batch_size, "cores", lambda: 3)
    monkeypatch.setattr(batch_size, "FEWEST", 1)
    seen = []
    shared = simulate(policies.get("LinFullPost"), WHEEL, trials=4, horizon=120, progress=seen.append)
    assert shared.batch_trials == 2
    assert sum(seen) == 4 * 120
    assert_same_numbers(shared, whole)


def test_cores_share_the_memory_and_are_given_up_first_where_it_runs_out(whole, monkeypatch):
    monkeypatch.setattr(batch_size, "cores", lambda: 2)
    monkeypatch.setattr(batch_size, "FEWEST", 1)
    prepared = prepare(policies.get("LinFullPost"), WHEEL, trials=4, horizon=120)
    assert batch_size.first_batch(prepared, 4, None) == (2, 2)
    monkeypatch.setattr(batch_size, "trials_that_fit", lambda needed: 1)
    assert batch_size.first_batch(prepared, 4, None) == (1, 1)
    monkeypatch.undo()
    monkeypatch.setattr(batch_size, "cores", lambda: 2)
    monkeypatch.setattr(batch_size, "FEWEST", 1)
    play, groups = batches._play_batches, []

    def runs_out_at_once(prepared, programs, seed, parts, *rest):
        groups.append(list(map(len, parts)))
        if len(parts) > 1:
            raise MemoryError("std::bad_alloc")
        return play(prepared, programs, seed, parts, *rest)

    monkeypatch.setattr(batches, "_play_batches", runs_out_at_once)
    assert_same_numbers(simulate(policies.get("LinFullPost"), WHEEL, trials=4, horizon=120), whole)
    assert groups == [[2, 2], [2], [2]]


def test_compile_seconds_are_those_that_passed():
    began = time.perf_counter()
    outcome = simulate(policies.get("LinGreedy"), WHEEL, trials=1, horizon=7)
    assert 0 < outcome.compile_seconds < time.perf_counter() - began


def test_longer_horizon_extends_the_shorter(whole):
    longer = simulate(policies.get("LinFullPost"), WHEEL, trials=4, horizon=240)
    every = dict(zip(longer.steps, longer.curve.T, strict=True))
    for step, regret in zip(whole.steps, whole.curve.T, strict=True):
        if step in every:
            np.testing.assert_array_equal(every[step], regret)


def test_regret_by_hand(script):
    """Constant contexts, rewards 0 and step: playing action 0 loses the step's number, action 1 loses nothing."""
    steps = np.arange(1.0, 31.0)
    problem = script(np.ones((30, 1)), np.stack([np.zeros(30), steps], axis=1))
    outcome = simulate(policies.get("Uniform"), problem, trials=3, segment_steps=8)
    assert (outcome.cumulative == outcome.cumulative_expected).all()
    assert (outcome.action_counts.sum(axis=1) == 30).all()
    np.testing.assert_array_equal(outcome.steps, np.arange(1, 31))
    lost = np.diff(outcome.curve, axis=1, prepend=0)
    assert set(np.unique(lost / steps)) == {0.0, 1.0}
    np.testing.assert_array_equal((lost > 0).sum(axis=1), outcome.action_counts[:, 0])
    np.testing.assert_allclose(outcome.simple, outcome.cumulative / 30)  # fewer than 500 steps: all of them


def test_simple_regret_is_the_mean_of_the_last_500_steps(script):
    rewards = np.zeros((700, 2))
    rewards[200:, 0] = 2.0
    rewards[200:, 1] = 2.0 - 1.0  # after step 200, action 1 loses 1
    rewards[:200] = [[5.0, 0.0]]  # before, it loses 5
    outcome = simulate(policies.get("Uniform"), script(np.ones((700, 1)), rewards), trials=2, segment_steps=64)
    late = outcome.cumulative - outcome.curve[:, np.searchsorted(outcome.steps, 200)]
    assert 200 in outcome.steps
    np.testing.assert_allclose(outcome.simple, late / 500)


def test_warm_up_plays_every_action_in_turn(play, script):
    problem = script(np.ones((12, 2)), np.zeros((12, 3)))
    actions = play(policies.get("LinFullPost"), problem).actions
    np.testing.assert_array_equal(actions[:, :9], np.tile(np.arange(9) % 3, (2, 1)))


def test_epsilon_one_is_uniform_over_all_actions(play, script):
    """χ² on 3 degrees of freedom above 21.1 has probability 1e-4; the seed is constant."""
    problem = script(np.ones((1000, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (1000, 1)))
    actions = play(policies.get("LinGreedy-eps0.05[epsilon=1.0]"), problem).actions[:, 12:]
    counts = np.bincount(actions.ravel(), minlength=4)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 21.1


@pytest.mark.parametrize(
    "sizes",
    [{"trials": 0}, {"trials": 1, "horizon": 0}, {"trials": 1, "batch_trials": 0}, {"trials": 1, "horizon": -3}],
)
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(UsageError, match="must be at least 1"):
        simulate(policies.get("Uniform"), WHEEL, **sizes)


def test_one_action_is_refused(script):
    with pytest.raises(UsageError, match="nothing to choose"):
        simulate(policies.get("Uniform"), script(np.ones((5, 2)), np.zeros((5, 1))), trials=1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["context", "reward"])
def test_numbers_that_are_none_are_refused(script, bad, where):
    contexts, rewards = np.ones((9, 2)), np.zeros((9, 2))
    (contexts if where == "context" else rewards)[4, 1] = bad
    with pytest.raises(InvalidProblemError, match="step 4 of trial 0"):
        simulate(policies.get("LinPost"), script(contexts, rewards), trials=1)


def test_overflow_is_reported_as_divergence(script):
    """Finite contexts of 1e30 overflow float32 when squared: the numbers after that mean nothing."""
    problem = script(np.full((9, 2), 1e30), np.ones((9, 2)))
    with pytest.raises(DivergedError, match="not finite"):
        simulate(policies.get("LinPost"), problem, trials=2)


def test_progress_counts_every_trial_step_once():
    seen = []
    simulate(
        policies.get("Uniform"), WHEEL, trials=5, horizon=100, segment_steps=30, batch_trials=2, progress=seen.append
    )
    assert sum(seen) == 500


def test_keys_are_named_and_never_shared():
    words = {tuple(key_data(*names)) for names in [(0, "a"), (1, "a"), (0, "b"), (0, "a", 1), (0, "a1")]}
    assert len(words) == 5
    assert (jax.random.key_data(trial_keys(0, "p", range(3), "r"))[2] == key_data(0, "p", 2, "r")).all()
    key = jax.random.key(0)
    assert (jax.random.key_data(role_key(key, "x")) != jax.random.key_data(role_key(key, "y"))).any()


@pytest.mark.parametrize("name", ["LinFullPost", "LinGreedy-eps0.05", "Uniform"])
@pytest.mark.parametrize("problem", ["wheel-0.9[context_dim=3]", "sparse-linear"])
def test_no_key_is_used_twice(name, problem):
    """JAX looks for that when it traces: nothing is compiled."""
    with jax.debug_key_reuse(True):
        prepared = prepare(policies.get(name), problems.get(problem), trials=2, horizon=11)
        prepared.keys(0, range(2))
        for job in jobs(prepared, 2).values():
            job.lower()


def test_batches_follow_memory():
    free = free_bytes()
    assert free is None or free > 0
    assert trials_that_fit(1) > 1000
    assert trials_that_fit(1 << 60) == 1


@config
class Roomy(Policy):
    """Carries one number and needs megabytes to refit it."""

    size: int = 1000
    refit_every: int = 10

    def init(self, key, spec):
        return jnp.float32(0.0)

    def act(self, key, state, situation):
        return jnp.int32(0)

    def refit(self, key, state, history):
        drawn = jax.random.normal(key, (self.size, self.size))
        return jnp.tanh(drawn @ drawn).sum()


def test_batches_follow_what_a_refit_needs(script, monkeypatch):
    problem = script(np.ones((20, 1)), np.zeros((20, 2)))
    unhindered = simulate(Roomy(), problem, trials=4)
    assert unhindered.batch_trials == 4
    monkeypatch.setattr("showdown.play.memory.free_bytes", lambda: 15 << 20)  # each trial takes 4 MB at least
    hindered = simulate(Roomy(), problem, trials=4)
    assert hindered.batch_trials < 4
    assert_same_numbers(hindered, unhindered)
    assert simulate(Roomy(), problem, trials=4, batch_trials=4).batch_trials == 4  # as told


@config
class Forgetful(Policy):
    """A policy without a single array in its state."""

    def init(self, key, spec):
        return ()

    def act(self, key, state, situation):
        return jnp.int32(1)


def test_a_policy_may_have_no_state(script):
    rewards = np.tile([1.0, 0.0], (6, 1))
    outcome = simulate(Forgetful(), script(np.zeros((6, 1)), rewards), trials=2)
    assert outcome.cumulative.tolist() == [6, 6]
    assert outcome.diagnostics == {}


def test_saved_agent_loads_in_a_fresh_process(tmp_path):
    agent = Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3)
    agent.learn([1.0, 2.0], 1, 0.5)
    agent.save(tmp_path / "agent.npz")
    program = "import sys; from showdown.agent import Agent; print(Agent.load(sys.argv[1]).observations)"
    told = subprocess.run([sys.executable, "-c", program, tmp_path / "agent.npz"], capture_output=True, text=True)
    assert told.stdout == "1\n", told.stderr
    with pytest.raises(UsageError, match="cannot write"):
        agent.save(tmp_path / "no such folder" / "agent.npz")


@config
class Spoiled(Policy):
    """Its second update leaves a state that is no number."""

    def init(self, key, spec):
        return jnp.float32(1.0)

    def act(self, key, state, situation):
        return jnp.int32(0)

    def update(self, key, state, situation, action, reward):
        return jnp.log(state - 0.5)  # -0.7, then not a number


def test_an_update_that_would_spoil_the_state_is_refused():
    agent = Agent(Spoiled(), context_dim=1, num_actions=2)
    assert agent.learn([1.0], 0, 1.0)
    kept = float(agent._state)
    assert not agent.learn([1.0], 0, 1.0)
    assert agent.choose([1.0]) == 0
    assert (float(agent._state), agent.observations, agent.counts()["refused_updates"]) == (kept, 1, 1)


def test_a_saved_agent_that_diverged_is_still_one(tmp_path):
    agent = Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3)
    agent._learner.state = jax.tree.map(
        lambda leaf: leaf + jnp.nan if leaf.dtype == jnp.float32 else leaf, agent._state
    )
    agent.save(tmp_path / "agent.npz")
    with pytest.raises(DivergedError, match="not finite"):
        Agent.load(tmp_path / "agent.npz").choose([1.0, 2.0])
