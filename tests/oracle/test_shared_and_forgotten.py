"""Hybrid, discounted and windowed regressions against one solve in float64, and History that begins late."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.beliefs.discounted import DiscountedLinear
from showdown.policies import policies
from showdown.policies.forgetting import LinearWindow
from showdown.policies.hybrid_linear import HybridLinear
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

ACTIONS, DIM, FEATURES, ROWS = 3, 2, 2, 60
DRAW = np.random.default_rng(1)
CONTEXTS = DRAW.normal(size=(ROWS, DIM)).astype(np.float32)
OFFERED = DRAW.normal(size=(ROWS, ACTIONS, FEATURES)).astype(np.float32)
PLAYED = DRAW.integers(ACTIONS, size=ROWS).astype(np.int32)
REWARDS = (CONTEXTS @ [1.0, -2.0] * PLAYED + OFFERED[:, 0, 0] + 0.3 * DRAW.normal(size=ROWS)).astype(np.float32)


def solved(designs, targets, prior, weights=None):
    """Mean, covariance and residual sum of a weighted ridge regression."""
    weights = np.ones(len(targets)) if weights is None else weights
    matrix = (designs * weights[:, None]).T @ designs + np.diag(prior)
    mean = np.linalg.solve(matrix, designs.T @ (weights * targets))
    return mean, np.linalg.inv(matrix), float(weights @ targets**2 - mean @ matrix @ mean)


@pytest.mark.parametrize(("own", "action_dim"), [("constant", FEATURES), ("context", FEATURES), ("all", 0)])
def test_a_hybrid_is_one_regression_over_all_coefficients(own, action_dim):
    spec = ProblemSpec(DIM, ACTIONS, action_dim)
    policy = HybridLinear(own=own, shared_precision=0.5, own_precision=2.0, noise_shape=3.0, noise_rate=4.0)
    features = OFFERED if action_dim else None

    def situation(row) -> Situation:
        return Situation(CONTEXTS[row], jnp.int32(row), spec, None, None if features is None else features[row])

    state, update = policy.init(jax.random.key(0), spec), jax.jit(policy.update, static_argnums=())
    for row in range(ROWS - 1):
        state = update(jax.random.key(0), state, situation(row), PLAYED[row], REWARDS[row])

    def design(row: int, action: int) -> np.ndarray:
        inputs = [*CONTEXTS[row], *(features[row, action] if action_dim else [])]
        width = {"constant": 0, "context": DIM, "all": len(inputs)}[own]
        whole = np.zeros((ACTIONS, width + 1))
        whole[action] = [*inputs[:width], 1]
        return np.array([*inputs, 1, *whole.ravel()], float)

    rows = np.array([design(row, PLAYED[row]) for row in range(ROWS - 1)])
    prior = np.where(np.arange(rows.shape[1]) < DIM + action_dim + 1, 0.5, 2.0)
    mean, covariance, residual = solved(rows, REWARDS[:-1].astype(float), prior)
    asked = np.array([design(ROWS - 1, action) for action in range(ACTIONS)])
    noise = (4 + residual / 2) / (3 + (ROWS - 1) / 2)
    values = policy.values(state, situation(ROWS - 1))
    np.testing.assert_allclose(values.mean, asked @ mean, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(values.spread**2, noise * np.diag(asked @ covariance @ asked.T), rtol=1e-3)
    keys = jax.random.split(jax.random.key(2), 20_000)
    draws = jax.jit(jax.vmap(lambda key: policy.scores(key, state, situation(ROWS - 1))))(keys)
    wanted = noise * (3 + (ROWS - 1) / 2) / (2 + (ROWS - 1) / 2) * asked @ covariance @ asked.T  # of Student-t
    np.testing.assert_allclose(np.cov(np.asarray(draws).T), wanted, atol=0.06 * wanted.max())


def test_a_discounted_belief_is_weighted_least_squares():
    owners, kept, precision = 2, 0.9, 0.5
    belief = DiscountedLinear(prior_precision=precision, noise_shape=3.0, noise_rate=4.0, discount=kept)
    which = PLAYED % owners
    data = jnp.asarray(CONTEXTS), jnp.asarray(which), jnp.asarray(REWARDS)
    state, _ = jax.jit(
        lambda: jax.lax.scan(lambda state, row: belief.observe(state, *row), belief.init(owners, DIM), data)
    )()
    prior = np.full(DIM, precision)
    for step in range(ROWS):
        prior *= kept
        prior[step % DIM] += precision * (1 - kept**DIM)
    assert (prior <= precision + 1e-9).all()
    values = belief.values(state, CONTEXTS[0])
    for owner in range(owners):
        mine = which == owner
        weights = kept ** (ROWS - 1.0 - np.flatnonzero(mine))
        mean, covariance, residual = solved(CONTEXTS[mine].astype(float), REWARDS[mine].astype(float), prior, weights)
        shape, rate = 3 + weights.sum() / 2, 4 + residual / 2
        assert values.mean[owner] == pytest.approx(CONTEXTS[0] @ mean, rel=1e-3)
        assert values.spread[owner] ** 2 == pytest.approx(
            rate / shape * CONTEXTS[0] @ covariance @ CONTEXTS[0], rel=1e-3
        )
        assert values.freedom[owner] == pytest.approx(2 * shape, rel=1e-4)


def test_a_window_is_a_regression_on_the_last_rewards():
    spec, count, window = ProblemSpec(DIM, ACTIONS), 50, 20
    policy = LinearWindow(window=window, prior_precision=0.5)
    contexts = jnp.asarray(CONTEXTS)
    history = History(spec, jnp.int32(count), jnp.asarray(PLAYED), jnp.asarray(REWARDS), lambda rows: contexts[rows])
    recent = history.last(window)
    np.testing.assert_array_equal(recent.at(jnp.arange(window)).contexts, CONTEXTS[count - window : count])
    assert (int(recent.count), int(recent.first)) == (window, count - window)
    assert history.last(ROWS) is history
    key = jax.random.key(0)
    state = jax.jit(lambda: policy.refit(key, policy.init(key, spec), history))()
    for action in range(ACTIONS):
        mine = np.flatnonzero(PLAYED[:count] == action)
        mine = mine[mine >= count - window]
        rows = np.column_stack([CONTEXTS[mine], np.ones(len(mine))]).astype(float)
        mean, _, _ = solved(rows, REWARDS[mine].astype(float), np.full(DIM + 1, 0.5))
        np.testing.assert_allclose(state.regressions.mean[action], mean, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["LinFullPost", "GP", "Uniform"])
def test_a_policy_that_would_not_forget_is_not_given_less_to_see(name):
    with pytest.raises(UsageError, match="would not make it forget"):
        policies.get(f"{name}/recent")
    assert policies.get("NeuralLinear/recent[rows=30]").small().rows == 16


def test_a_rule_may_be_written_before_or_after_recent():
    assert policies.get("NeuralLinear/recent/UCB") == policies.get("NeuralLinear/UCB/recent")
