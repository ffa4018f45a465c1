"""Decision rules against textbook formulas in NumPy, a grid over the simplex, and each other."""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import Values
from showdown.config import config
from showdown.policies import policies
from showdown.policies.linear import LinearKnownNoise
from showdown.policies.rules import IDS, UCB, BestMean, Ranged, SampledIDS, SquareCB, least_ratio
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.testing import play

SPEC = ProblemSpec(1, 3)
MEAN, SPREAD, NOISE = np.array([1.0, 0.7, -0.5]), np.array([0.1, 0.5, 1.0]), np.array([0.3, 0.3, 0.3])


@config
class FixedValues(ValueThompson):
    """Believes the same of every context."""

    def init(self, key, spec):
        return ()

    def values(self, state, situation):
        return Values(*(jnp.float32(each) for each in (MEAN, SPREAD, np.full(3, np.inf), NOISE)))

    def scores(self, key, state, situation):
        return jnp.float32(MEAN) + jnp.float32(SPREAD) * jax.random.normal(key, (3,))


def situation(step=100, available=None):
    return Situation(jnp.zeros(1), jnp.int32(step), SPEC, None if available is None else jnp.array(available))


def ranged(low, high):
    return Ranged((), jnp.float32(low), jnp.float32(high), jnp.array(True))


def test_ucb_on_a_known_noise_is_textbook_linucb(script):
    generator = np.random.default_rng(0)
    contexts, rewards = generator.normal(size=(60, 3)), generator.normal(size=(60, 3))
    policy = UCB(inner=LinearKnownNoise(prior_precision=1.0, noise_variance=1.0, intercept=False), width=1.5)
    played = play(policy, script(contexts, rewards)).actions[0]
    a, b = np.tile(np.eye(3), (3, 1, 1)), np.zeros((3, 3))
    for step, x in enumerate(contexts):
        inverse = np.linalg.inv(a)
        theta = np.einsum("kij,kj->ki", inverse, b)
        action = np.argmax(theta @ x + 1.5 * np.sqrt(np.einsum("i,kij,j->k", x, inverse, x)))
        assert played[step] == action
        a[action] += np.outer(x, x)
        b[action] += rewards[step, action] * x


def test_the_optimistic_width_grows_with_time():
    bounds = UCB(inner=FixedValues(), width=0.5, confidence=0.1).bounds((), situation(step=100))
    assert np.asarray(bounds) == pytest.approx(MEAN + np.sqrt(0.25 + 0.1 * np.log(301)) * SPREAD, rel=1e-5)


def test_square_cb_by_hand():
    law = lambda sharpness, **at: np.asarray(  # noqa: E731
        SquareCB(inner=FixedValues(), sharpness=sharpness).probabilities(ranged(-1, 3), situation(**at))
    )
    assert law(0.0) == pytest.approx(np.full(3, 1 / 3), abs=1e-6)
    assert law(1e9) == pytest.approx([1, 0, 0], abs=1e-6)
    second, third = 1 / (3 + 10 * 10 * 0.3 / 4), 1 / (3 + 10 * 10 * 1.5 / 4)
    assert law(10.0) == pytest.approx([1 - second - third, second, third], rel=1e-5)
    alone = 1 / (2 + 10 * 10 * 1.2 / 4)
    assert law(10.0, available=[False, True, True]) == pytest.approx([0, 1 - alone, alone], rel=1e-5)


def test_square_cb_keeps_the_range_of_rewards():
    rule = SquareCB(inner=FixedValues())
    state = rule.init(jax.random.key(0), SPEC)
    for reward, low, high in ((5.0, 5, 5), (7.0, 5, 7), (-1.0, -1, 7)):
        state = rule.update(jax.random.key(0), state, situation(), jnp.int32(0), jnp.float32(reward))
        assert (float(state.low), float(state.high)) == (low, high)


def test_the_least_ratio_is_that_of_a_grid_over_the_simplex():
    generator = np.random.default_rng(1)
    share = np.linspace(0, 1, 201)
    laws = np.array([(p, q, 1 - p - q) for p, q in product(share, share) if p + q <= 1 + 1e-9])
    for _ in range(20):
        regret, information = generator.exponential(size=3), generator.exponential(size=3)
        law = np.asarray(least_ratio(jnp.float32(regret), jnp.float32(information), jnp.ones(3, bool)))
        assert law.sum() == pytest.approx(1, abs=1e-6)
        ratio = (law @ regret) ** 2 / (law @ information)
        assert ratio <= ((laws @ regret) ** 2 / (laws @ information)).min() * (1 + 1e-4)


def test_regrets_that_overflow_choose_nothing_that_is_not_available():
    law = least_ratio(jnp.array([0.0, 1e25, 1e25]), jnp.zeros(3), jnp.array([False, True, True]))
    np.testing.assert_array_equal(law, [0, 1, 0])


def test_ids_by_bounds_and_by_draws():
    regret = (MEAN + 2 * SPREAD).max() - (MEAN - 2 * SPREAD)
    expected = least_ratio(jnp.float32(regret), jnp.float32(np.log1p(SPREAD**2 / NOISE)), jnp.ones(3, bool))
    assert np.asarray(IDS(inner=FixedValues(), width=2.0).probabilities((), situation())) == pytest.approx(
        np.asarray(expected), abs=1e-5
    )
    draws = np.array([[1.0, 0, 0], [3, 1, 0], [0, 2, 1], [0, 4, 3]])  # best: 0, 0, 1, 1
    means = draws.mean(axis=0)
    shares = np.stack([draws[:2].mean(axis=0), draws[2:].mean(axis=0)]) - means
    expected = least_ratio(
        jnp.float32(draws.max(axis=1).mean() - means), jnp.float32((shares**2).mean(axis=0)), jnp.ones(3, bool)
    )
    law = SampledIDS(inner=FixedValues(), samples=4).law(jnp.float32(draws), situation())
    assert np.asarray(law) == pytest.approx(np.asarray(expected), abs=1e-6)


def test_a_rule_goes_inside_the_warm_up_and_needs_a_belief():
    assert policies.get("LinFullPost/UCB") == policies.get("LinUCB")
    assert policies.get("NeuralLinear/Greedy") == policies.get("NeuralLinear-Greedy")
    assert isinstance(policies.get("BBB/Greedy").inner, BestMean)
    for name, message in (
        ("RMS/UCB", "UCB needs a policy that knows mean and spread of every value, and GreedyNetwork does not"),
        ("Uniform/SampledIDS", "SampledIDS needs a policy that draws"),
        ("LinFullPost/UCB[width=-1]", "width must not be negative"),
        ("LinFullPost/SampledIDS[samples=1]", "samples must be at least 2"),
        ("NPR/Greedy", "PerturbedRewards plays the best of its values already"),
        ("LinFullPost/Best", "there are: UCB, SquareCB, IDS, SampledIDS, Greedy, Duel"),
    ):
        with pytest.raises(UsageError, match=message):
            policies.get(name)
