"""NeuralLinear's posterior against the textbook formula on its own features in float64, and the algebra beneath it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.policies.neural_linear import NeuralLinear
from showdown.posteriors import cholesky, moments, network
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

DIM, WIDTH, ACTIONS = 4, 7, 3
SPEC = ProblemSpec(DIM, ACTIONS)


def data(steps: int, seed: int = 0):
    generator = np.random.default_rng(seed)
    contexts = generator.normal(size=(steps, DIM)).astype(np.float32)
    actions = generator.integers(ACTIONS, size=steps)
    rewards = np.sin(contexts[:, 0] + actions) + 0.2 * generator.normal(size=steps)
    return contexts, actions, rewards.astype(np.float32)


def batch_formula(policy: NeuralLinear, features: np.ndarray, rewards: np.ndarray):
    """(mean, covariance, a, b) of one action from all its rows."""
    features, rewards = features.astype(np.float64), rewards.astype(np.float64)
    precision = features.T @ features + policy.prior_precision * np.eye(features.shape[1])
    mean = np.linalg.solve(precision, features.T @ rewards)
    rate = policy.noise_rate + (rewards @ rewards - mean @ precision @ mean) / 2
    return mean, np.linalg.inv(precision), policy.noise_shape + len(rewards) / 2, rate


def assert_posterior(state, action, expected):
    mean, covariance, shape, rate = expected
    np.testing.assert_allclose(state.belief.regressions.mean[action], mean, rtol=2e-3, atol=2e-4)
    root = np.asarray(state.belief.regressions.root[action], np.float64)
    np.testing.assert_allclose(root.T @ root, covariance, rtol=5e-3, atol=1e-3 * np.abs(covariance).max())
    assert float(state.belief.noise.shape[action]) == pytest.approx(shape)
    assert float(state.belief.noise.rate[action]) == pytest.approx(rate, rel=1e-3)


def test_posterior_is_the_batch_formula_after_a_training_and_after_each_step(history):
    """600 steps (two chunks), a refit, then 30 exact steps; rows beyond the filled part must not count."""
    policy = NeuralLinear(hidden_layers=(5, WIDTH), training_steps=3, batch_size=16, learning_rate=0.05)
    contexts, actions, rewards = data(650)
    state = policy.init(jax.random.key(0), SPEC)
    past = history(SPEC, contexts, actions, rewards, count=600)
    before = state
    state = jax.jit(lambda state: policy.refit(jax.random.key(1), state, past))(state)
    weights = state.fit.parameters
    assert not jnp.array_equal(weights[0].weights, before.fit.parameters[0].weights)

    def check(steps: int) -> None:
        features = np.asarray(network.features(weights, jnp.asarray(contexts)))
        for action in range(ACTIONS):
            own = np.flatnonzero(actions[:steps] == action)
            assert_posterior(state, action, batch_formula(policy, features[own], rewards[own]))

    check(600)
    update = jax.jit(policy.update)
    for step in range(600, 630):
        situation = Situation(jnp.asarray(contexts[step]), jnp.int32(step), SPEC)
        state = update(jax.random.key(2), state, situation, jnp.int32(actions[step]), rewards[step])
    check(630)


def test_inverse_of_lower_triangular_matrices():
    generator = np.random.default_rng(0)
    for dim in (1, 5, 8):
        lower = np.tril(generator.normal(size=(3, dim, dim))) + 3 * np.eye(dim)
        inverse = cholesky.inverse_of_lower(jnp.asarray(lower, jnp.float32))
        np.testing.assert_allclose(inverse, np.linalg.inv(lower), rtol=1e-4, atol=1e-6)


def test_matrix_that_float32_cannot_factor_still_gets_a_root():
    """Two regressions: one sound, left exactly alone; one whose features repeat with a huge scale."""
    generator = np.random.default_rng(0)
    sound = generator.normal(size=(40, 6))
    repeated = np.tile(1e4 * generator.normal(size=(400, 2)), (1, 3))
    matrices = np.stack([design.T @ design + 0.25 * np.eye(6) for design in (sound, repeated)]).astype(np.float32)
    assert not np.isfinite(np.asarray(jnp.linalg.cholesky(jnp.asarray(matrices[1])))).all()
    roots = np.asarray(moments.inverse_root(jnp.asarray(matrices)), np.float64)
    assert np.isfinite(roots).all()
    np.testing.assert_allclose(roots[0] @ roots[0].T, np.linalg.inv(matrices[0].astype(np.float64)), rtol=1e-4)


def test_matrix_that_is_not_finite_stays_so():
    """So that the loop reports a divergence; the search for a factor must end all the same."""
    matrices = jnp.stack([jnp.eye(3), jnp.full((3, 3), jnp.nan)])
    roots = moments.inverse_root(matrices)
    assert jnp.isfinite(roots[0]).all()
    assert jnp.isnan(roots[1]).any()


@pytest.mark.parametrize("count", [1, 8, 29, 40])
def test_rows_are_dealt_into_chunks_of_one_owner(count):
    which = np.random.default_rng(count).integers(3, size=40)
    numbers, owners, sizes = moments.chunks_by_owner(jnp.asarray(which, jnp.int32), jnp.int32(count), 4, chunk=8)
    numbers, owners = np.asarray(numbers), np.asarray(owners)
    dealt = numbers[numbers >= 0]
    np.testing.assert_array_equal(np.sort(dealt), np.arange(count))
    np.testing.assert_array_equal(sizes, np.bincount(which[:count], minlength=4))
    for chunk, owner in zip(numbers, owners, strict=True):
        assert (which[chunk[chunk >= 0]] == owner).all()
    used = np.flatnonzero((numbers >= 0).any(axis=1))
    assert used.max() < count // 8 + 4  # where the loop stops
    assert (owners[used.max() + 1 :] == 4).all()


@pytest.mark.parametrize("together", [1, 3])
def test_both_ways_to_collect_agree(together):
    contexts, actions, rewards = (jnp.asarray(array) for array in data(37))
    both = {"count": jnp.int32(30), "num": ACTIONS, "dim": DIM, "chunk": 8, "precision": "highest"}
    by_row = moments.collect(lambda steps: (contexts[steps], actions[steps], rewards[steps]), **both)
    by_owner = moments.collect_by_owner(
        lambda steps: (contexts[steps], rewards[steps]), actions.astype(jnp.int32), together=together, **both
    )
    for one, other in zip(by_row, by_owner, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
