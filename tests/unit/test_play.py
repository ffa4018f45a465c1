"""What is measured beside regret, the cache of programs, and policies played together."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import DivergedError, UsageError
from showdown.config import config
from showdown.play import batch_size, population
from showdown.play.compile_once import _programs
from showdown.play.over_trials import play_rounds
from showdown.play.population import simulate_many
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.policies.linear import LinearKnownNoise
from showdown.problems import problems
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem, ProblemSpec, Round

WHEEL = replace(problems.get("wheel-0.5"), horizon=60)


def test_rewards_are_added_up_within_the_horizon(script):
    """31 steps in segments of 8: the last segment plays one step that does not count."""
    generator = np.random.default_rng(0)
    rewards = generator.integers(-5, 6, size=(31, 3)).astype(float)
    outcome = simulate(policies.get("Uniform"), script(np.ones((31, 2)), rewards), trials=2, segment_steps=8)
    np.testing.assert_allclose(outcome.reward_fixed, rewards.mean(axis=0).max())
    right = rewards == rewards.max(axis=1, keepdims=True)
    np.testing.assert_allclose(outcome.accuracy_fixed, right.mean(axis=0).max())
    best = rewards.max(axis=1).sum()
    np.testing.assert_allclose(31 * outcome.reward, best - outcome.cumulative)
    lost = np.diff(outcome.curve, axis=1, prepend=0)  # a checkpoint at every step
    np.testing.assert_allclose(outcome.accuracy, (lost == 0).mean(axis=1))
    assert (outcome.accuracy > 0).all()
    assert (outcome.accuracy < 1).all()


@config
class Fixed(Policy):
    """Plays one action; its state grows by a factor with every step."""

    factor: float = 1.0

    def init(self, key, spec):
        return jnp.float32(1.0)

    def act(self, key, state, situation):
        return jnp.where(jnp.isfinite(state), 1, -1).astype(jnp.int32)

    def update(self, key, state, situation, action, reward):
        return state * self.factor

    def diagnostics(self, state):
        return {"grown": state / self.factor}


def test_leaves_of_another_dtype_get_a_program_of_their_own(script):
    problem = script(np.ones((8, 1)), np.tile([1.0, 0.0], (8, 1)))

    def known() -> int:
        return sum(key[0] is play_rounds for key in _programs)

    before = known()
    for factor in (1.0, np.float32(1.0), 0.5):  # an array's float is not Python's: another weak type
        assert simulate(Fixed(factor=factor), problem, trials=2).cumulative.tolist() == [8, 8]
    assert known() == before + 2


def play_sizes(monkeypatch) -> list[int]:
    """Filled with the number of policies of each population that is played."""
    sizes = []

    def watched(prepared, *arguments):
        sizes.append(prepared.population)
        return play_population(prepared, *arguments)

    play_population = population._play_population
    monkeypatch.setattr(population, "_play_population", watched)
    return sizes


@pytest.mark.parametrize("free", [None, 13_000])
def test_policies_played_together_play_as_each_alone(free, monkeypatch):
    one = LinearKnownNoise(prior_precision=0.25)
    several = [replace(one, prior_precision=precision) for precision in (0.25, 1.0, 4.0)]
    alone = [simulate(policy, WHEEL, trials=3) for policy in several]
    if free:  # not enough for one trial of all three at once
        monkeypatch.setattr("showdown.play.memory.free_bytes", lambda: free)
    played = play_sizes(monkeypatch)
    together = simulate_many(several, WHEEL, trials=3)
    assert played[-1] == (3 if free is None else 1)  # policies at a time
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.curve, other.curve, rtol=1e-5)
        np.testing.assert_array_equal(one.action_counts, other.action_counts)
    assert len({outcome.cumulative.tobytes() for outcome in together}) == 3


def test_one_that_diverges_does_not_cost_the_others(script):
    problem = script(np.ones((8, 1)), np.tile([1.0, 0.0], (8, 1)))
    calm, wild, brisk = simulate_many([Fixed(factor=f) for f in (1.0, 1e30, 2.0)], problem, trials=3, batch_trials=2)
    assert isinstance(wild, DivergedError)
    assert calm.cumulative.tolist() == brisk.cumulative.tolist() == [8, 8, 8]
    assert brisk.diagnostics["grown"].tolist() == [2**7] * 3
    assert simulate_many([], problem, trials=3) == []


def test_threads_that_play_are_in_the_mode_of_their_caller(script, monkeypatch):
    monkeypatch.setattr(batch_size, "cores", lambda: 2)
    monkeypatch.setattr(batch_size, "FEWEST", 1)
    problem = script(np.ones((8, 1)), np.tile([1.0, 0.0], (8, 1)))
    with jax.enable_x64(True):
        outcome = simulate(Fixed(), problem, trials=2)
    assert outcome.batch_trials == 1
    assert outcome.cumulative.tolist() == [8, 8]


def test_an_action_that_does_not_exist_is_the_policy_s_fault(script):
    @config
    class Wrong(Fixed):
        def act(self, key, state, situation):
            return jnp.int32(2)

    with pytest.raises(UsageError, match="chose action 2 of a problem with 2 actions"):
        simulate(Wrong(), script(np.ones((8, 1)), np.tile([1.0, 0.0], (8, 1))), trials=2)


@config
class Closing(Problem):
    """Two actions, of which the second is available in the first five steps only."""

    horizon: int = 8

    def spec(self, tables):
        return ProblemSpec(1, 2)

    def begin(self, key, tables):
        return ()

    def round(self, step, episode, tables):
        available = jnp.array([True, False]) | (step < 5)
        return Round(jnp.zeros(1), jnp.ones(2), jnp.ones(2), available)


def test_an_action_that_is_not_available_is_the_policy_s_fault():
    with pytest.raises(UsageError, match="chose action 1 at step 5, which is not available: let `act` choose with"):
        simulate(Fixed(), Closing(), trials=2)
    assert simulate(Fixed(), Closing(), trials=2, horizon=5).cumulative_expected.tolist() == [0, 0]


def test_only_one_structure_is_played_together():
    with pytest.raises(UsageError, match="differ only in fields that hold floats"):
        simulate_many([policies.get("LinPost"), policies.get("Uniform")], WHEEL, trials=2)
