"""The linear family against closed forms in float64 and against scipy's distributions.

Every draw comes from a fixed key, so a verdict never changes from run to run; each statistical test still says how
often a fresh key would fail a correct program (its false-alarm rate).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from showdown.beliefs.linear import LinearState
from showdown.config import core
from showdown.policies import policies
from showdown.policies.linear import LinearKnownNoise, LinearUnknownNoise
from showdown.posteriors import regression
from showdown.protocol.keys import named_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

Linear: TypeAlias = LinearKnownNoise | LinearUnknownNoise
CONTEXT_DIM, NUM_ACTIONS = 5, 3
DRAWS = 20_000
FALSE_ALARM = 1e-3  # of one Kolmogorov–Smirnov or chi-squared test: the p-value below which it fails
KNOWN = ("LinPost", "LinPost-SL", "LinDiagPost", "LinDiagPrecPost", "LinGreedy")
UNKNOWN = ("LinFullPost", "LinFullPost-MR", "LinFullDiagPost", "LinFullDiagPrecPost")


class Data(NamedTuple):
    contexts: np.ndarray  # (steps, context_dim)
    actions: np.ndarray  # (steps,)
    rewards: np.ndarray  # (steps,)


class Posterior(NamedTuple):
    """What one action's regression must have become, in float64."""

    mean: np.ndarray  # (dim,)
    precision: np.ndarray  # (dim, dim) under unit noise, or with the known noise in it
    covariance: np.ndarray  # (dim, dim)
    shape: float
    rate: float


def correlated_data(steps: int = 300, context_dim: int = CONTEXT_DIM, seed: int = 0) -> Data:
    """Contexts with correlated, unequally scaled coordinates, actions at random, rewards linear in the context."""
    generator = np.random.default_rng(seed)
    mixing = generator.normal(size=(context_dim, context_dim))
    contexts = generator.normal(size=(steps, context_dim)) @ mixing
    actions = generator.integers(NUM_ACTIONS, size=steps)
    coefficients = generator.normal(size=(NUM_ACTIONS, context_dim))
    rewards = 0.7 + np.sum(coefficients[actions] * contexts, axis=1) + 0.3 * generator.normal(size=steps)
    return Data(contexts.astype(np.float32), actions.astype(np.int32), rewards.astype(np.float32))


def linear(name: str) -> Linear:
    """The linear policy inside a preset's wrappers."""
    return core(policies.get(name))


@jax.jit
def learn(policy: Linear, data: Data) -> LinearState:
    """The state after one update per row."""
    key = named_key(0, "unused by linear updates")

    def step(state: LinearState, row: Data) -> tuple[LinearState, None]:
        situation = situation_of(row.contexts)
        return policy.update(key, state, situation, row.actions, row.rewards), None

    return jax.lax.scan(step, policy.init(key, ProblemSpec(data.contexts.shape[1], NUM_ACTIONS)), data)[0]


def situation_of(context: jax.Array) -> Situation:
    return Situation(context, jnp.int32(0), ProblemSpec(len(context), NUM_ACTIONS))


def closed_form(policy: Any, data: Data, action: int) -> Posterior:
    """The textbook posterior of one action from all its rows at once."""
    rows = data.actions == action
    design = np.append(data.contexts[rows], np.ones((rows.sum(), 1)), axis=1).astype(np.float64)
    rewards = data.rewards[rows].astype(np.float64)
    noise_variance = getattr(policy, "noise_variance", 1.0)
    precision = design.T @ design / noise_variance + policy.prior_precision * np.eye(design.shape[1])
    mean = np.linalg.solve(precision, design.T @ rewards / noise_variance)
    return Posterior(
        mean,
        precision,
        np.linalg.inv(precision),
        shape=getattr(policy, "noise_shape", np.nan) + rows.sum() / 2,
        rate=getattr(policy, "noise_rate", np.nan) + (rewards @ rewards - mean @ precision @ mean) / 2,
    )


def covariance(regressions: regression.Regressions, action: int) -> np.ndarray:
    """Σ of one regression from `variance` alone, by polarisation: 4 eᵢᵀΣeⱼ = v(eᵢ + eⱼ) − v(eᵢ − eⱼ)."""
    basis = jnp.eye(regressions.mean.shape[1])
    pairs = basis[:, None] + jnp.array([1.0, -1.0])[:, None, None, None] * basis[None]  # (2, dim, dim, dim)
    variances = jnp.vectorize(lambda design: regression.variance(regressions, design)[action], signature="(d)->()")
    plus, minus = np.asarray(variances(pairs), np.float64)
    return (plus - minus) / 4


def relative_error(actual: Any, expected: np.ndarray) -> float:
    return float(np.linalg.norm(np.asarray(actual, np.float64) - expected) / np.linalg.norm(expected))


def draw_scores(policy: Linear, state: LinearState, context: np.ndarray, role: str) -> np.ndarray:
    """Independent draws of all actions' scores for one context, (DRAWS, num_actions)."""
    keys = jax.random.split(named_key(0, "oracle", role), DRAWS)
    return np.asarray(_scores(policy, keys, state, context), np.float64)


@jax.jit
def _scores(policy: Linear, keys: jax.Array, state: LinearState, context: jax.Array) -> jax.Array:
    return jax.vmap(lambda key: policy.scores(key, state, situation_of(context)))(keys)


@pytest.mark.parametrize("name", [*KNOWN, *UNKNOWN])
def test_recursion_is_the_batch_posterior(name):
    policy, data = linear(name), correlated_data()
    state = learn(policy, data)
    for action in range(NUM_ACTIONS):
        exact = closed_form(policy, data, action)
        assert relative_error(state.regressions.mean[action], exact.mean) < 1e-4
        assert relative_error(covariance(state.regressions, action), exact.covariance) < 1e-4
        if name in UNKNOWN:
            assert state.noise.shape[action] == pytest.approx(exact.shape, rel=1e-6)
            assert state.noise.rate[action] == pytest.approx(exact.rate, rel=1e-4)
        else:
            assert state.noise is None


def test_float32_holds_over_many_updates():
    data = correlated_data(steps=6_000, context_dim=20)
    policy = linear("LinFullPost")
    state = learn(policy, data)
    designs = np.append(data.contexts[:50], np.ones((50, 1)), axis=1).astype(np.float32)
    variances = np.asarray(jax.vmap(regression.variance, in_axes=(None, 0))(state.regressions, designs))
    for action in range(NUM_ACTIONS):
        exact = closed_form(policy, data, action)
        expected = np.einsum("nd,de,ne->n", designs, exact.covariance, designs)
        assert relative_error(state.regressions.mean[action], exact.mean) < 1e-3
        np.testing.assert_allclose(variances[:, action], expected, rtol=1e-3)


def test_compensation_keeps_collinear_contexts_exact():
    """One-hot columns and an intercept: plain float32 loses digits here, the compensated root does not."""
    generator = np.random.default_rng(0)
    rows, dim = 20_000, 9
    designs = np.append(np.eye(dim - 1)[generator.integers(dim - 1, size=rows)], np.ones((rows, 1)), axis=1)
    designs = designs.astype(np.float32)
    exact = np.linalg.inv(designs.astype(np.float64).T @ designs + 0.25 * np.eye(dim))
    wanted = np.einsum("nd,de,ne->n", designs[:50], exact, designs[:50])
    start = regression.prior(1, dim, 0.25)
    one = jnp.int32(0)

    def plain(state, design):
        return regression.absorb(state, one, design, jnp.float32(0))[0], None

    def compensated(carry, design):
        return regression.absorb_compensated(*carry, one, design, jnp.float32(0))[:2], None

    drifted = jax.lax.scan(plain, start, designs)[0]
    kept = jax.lax.scan(compensated, (start, jnp.zeros_like(start.root)), designs)[0][0]

    def worst(regressions) -> float:
        ours = jax.vmap(regression.variance, in_axes=(None, 0))(regressions, designs[:50])[:, 0]
        return float(np.max(np.abs(np.asarray(ours) / wanted - 1)))

    assert worst(kept) < 5e-6
    assert worst(drifted) > 3 * worst(kept)  # otherwise the compensation would be idle


def test_updating_one_action_leaves_the_others_alone():
    policy, data = linear("LinFullDiagPost"), correlated_data()
    data = data._replace(actions=np.ones_like(data.actions))
    state, untouched = learn(policy, data), policy.init(named_key(0), ProblemSpec(CONTEXT_DIM, NUM_ACTIONS))
    for after, before in zip(jax.tree.leaves(state), jax.tree.leaves(untouched), strict=True):
        np.testing.assert_array_equal(after[jnp.array([0, 2])], before[jnp.array([0, 2])])
        assert not np.array_equal(after[1], before[1])


@pytest.mark.parametrize("name", ["LinDiagPost", "LinFullDiagPost", "LinDiagPrecPost", "LinFullDiagPrecPost"])
def test_diagonals(name):
    """The kept diagonal is that of the full Σ or Σ⁻¹, and the variance of a score is built from it alone."""
    policy, data = linear(name), correlated_data()
    state = learn(policy, data)
    design = jnp.append(jnp.asarray(data.contexts[0]), 1.0)
    variances = policy.belief.sampling_variance(state, design)
    for action in range(NUM_ACTIONS):
        exact = closed_form(policy, data, action)
        if "Prec" in name:
            expected, sampled = np.diag(exact.precision), 1 / np.diag(exact.precision)
        else:
            expected = sampled = np.diag(exact.covariance)
            np.testing.assert_allclose(
                regression.marginal_variances(state.regressions, jnp.int32(action)), expected, rtol=1e-4
            )
        np.testing.assert_allclose(state.diagonal[action], expected, rtol=1e-4)
        assert variances[action] == pytest.approx(np.asarray(design, np.float64) ** 2 @ sampled, rel=1e-4)


def test_known_noise_does_not_scale_the_prior():
    """Precision XᵀX/σ² + λI: before data the variance is 1/λ whatever σ², and one row adds x²/σ² to the precision."""
    state = learn(policies.get("LinPost[prior_precision=4.0,noise_variance=0.01]").inner, _one_row())
    variances = regression.variance(state.regressions, jnp.array([1.0, 0.0]))
    np.testing.assert_allclose(variances[1:], 1 / 4.0, rtol=1e-6)
    precision = np.array([[4.0 + 4.0 / 0.01, 2.0 / 0.01], [2.0 / 0.01, 4.0 + 1.0 / 0.01]])
    assert variances[0] == pytest.approx(np.linalg.inv(precision)[0, 0], rel=1e-4)


def _one_row() -> Data:
    return Data(np.array([[2.0]], np.float32), np.zeros(1, np.int32), np.ones(1, np.float32))


def test_greedy_plays_the_best_ridge_mean():
    policy, data = linear("LinGreedy"), correlated_data()
    state, key = learn(policy, data), named_key(0)
    contexts = correlated_data(steps=200, seed=1).contexts
    actions = jax.vmap(lambda context: policy.act(key, state, situation_of(context)))(jnp.asarray(contexts))
    designs = np.append(contexts, np.ones((200, 1)), axis=1).astype(np.float64)
    ridge = 0.25 * 0.25  # λσ²
    means = []
    for action in range(NUM_ACTIONS):
        rows = data.actions == action
        seen = np.append(data.contexts[rows], np.ones((rows.sum(), 1)), axis=1).astype(np.float64)
        means.append(designs @ np.linalg.solve(seen.T @ seen + ridge * np.eye(6), seen.T @ data.rewards[rows]))
    np.testing.assert_array_equal(actions, np.argmax(means, axis=0))
    assert len(set(np.asarray(actions).tolist())) == NUM_ACTIONS


@pytest.mark.parametrize("degrees_of_freedom", [0.46, 12.0, 1e3, 1e6])
def test_student_t_draws(degrees_of_freedom):
    """One-sample Kolmogorov–Smirnov on 100,000 draws; false-alarm rate 0.1 % for each number of degrees of freedom."""
    key = named_key(0, "student_t", str(degrees_of_freedom))
    draws = np.asarray(regression.student_t(key, jnp.full(100_000, degrees_of_freedom)), np.float64)
    assert np.isfinite(draws).all()
    assert stats.kstest(draws, stats.t(degrees_of_freedom).cdf).pvalue > FALSE_ALARM


def test_student_t_check_can_tell_tails_apart():
    """The same test must reject draws whose degrees of freedom are wrong, or it would prove nothing."""
    draws = np.asarray(regression.student_t(named_key(0, "power"), jnp.full(100_000, 6.0)), np.float64)
    assert stats.kstest(draws, stats.t(12).cdf).pvalue < 1e-6
    assert stats.kstest(draws, stats.norm.cdf).pvalue < 1e-6


@pytest.mark.parametrize("name", ["LinPost", "LinDiagPost", "LinDiagPrecPost"])
def test_known_noise_scores_are_normal(name):
    """Kolmogorov–Smirnov against the closed-form normal of each action; false-alarm rate 0.3 % for each preset."""
    policy, data = linear(name), correlated_data(steps=40)
    context = data.contexts[0]
    scores = draw_scores(policy, learn(policy, data), context, name)
    design = np.append(context, 1.0).astype(np.float64)
    for action in range(NUM_ACTIONS):
        exact = closed_form(policy, data, action)
        sampled = {
            "full": exact.covariance,
            "diagonal": np.diag(np.diag(exact.covariance)),
            "precision-diagonal": np.diag(1 / np.diag(exact.precision)),
        }[policy.covariance]
        value = stats.norm(design @ exact.mean, np.sqrt(design @ sampled @ design))
        assert stats.kstest(scores[:, action], value.cdf).pvalue > FALSE_ALARM


def classical_scores(policy: Any, data: Data, context: np.ndarray) -> np.ndarray:
    """The textbook way: draw each action's noise variance, then its whole coefficient vector, then take xᵀβ."""
    generator = np.random.default_rng(7)
    design = np.append(context, 1.0).astype(np.float64)
    scores = []
    for action in range(NUM_ACTIONS):
        exact = closed_form(policy, data, action)
        noise_variance = exact.rate / generator.gamma(exact.shape, size=DRAWS)
        standard = generator.multivariate_normal(np.zeros(len(design)), exact.covariance, size=DRAWS)
        scores.append((exact.mean + np.sqrt(noise_variance)[:, None] * standard) @ design)
    return np.stack(scores, axis=1)


@pytest.fixture(scope="module")
def undecided() -> tuple[np.ndarray, np.ndarray]:
    """Scores of LinFullPost and of the classical sampler after so few rows that no action is a clear winner and the
    tails are heavy, (DRAWS, num_actions) each."""
    policy, data = linear("LinFullPost[noise_shape=0.5]"), correlated_data(steps=9)
    data = data._replace(rewards=0.05 * data.rewards)
    context = data.contexts[0]
    return draw_scores(policy, learn(policy, data), context, "classical"), classical_scores(policy, data, context)


def test_unknown_noise_scores_are_those_of_sampled_coefficients(undecided):
    """Two-sample Kolmogorov–Smirnov for each action and for the largest score; false-alarm rate 0.4 %."""
    ours, classical = undecided
    for action in range(NUM_ACTIONS):
        assert stats.ks_2samp(ours[:, action], classical[:, action]).pvalue > FALSE_ALARM
    assert stats.ks_2samp(ours.max(axis=1), classical.max(axis=1)).pvalue > FALSE_ALARM


def test_actions_are_chosen_as_often_as_by_sampled_coefficients(undecided):
    """Chi-squared on the counts of winning actions; false-alarm rate 0.1 %."""
    counts = np.stack([np.bincount(scores.argmax(axis=1), minlength=NUM_ACTIONS) for scores in undecided])
    assert (counts > DRAWS / 20).all()  # every action wins often enough for the test to see it
    assert stats.chi2_contingency(counts).pvalue > FALSE_ALARM


def test_actions_are_drawn_independently(undecided):
    """Spearman's test on every pair of actions, of the scores and of their distance from the centre; 0.6 % in all."""
    ranks = stats.rankdata(undecided[0], axis=0) / DRAWS
    for values in (ranks, np.abs(ranks - 0.5)):
        for first in range(NUM_ACTIONS):
            for second in range(first):
                assert stats.spearmanr(values[:, first], values[:, second]).pvalue > FALSE_ALARM


def test_draws_before_data_follow_the_prior():
    """Kolmogorov–Smirnov: N(0, |x|²/λ) with known noise, √(b|x|²/(aλ))·t₂ₐ without; false-alarm rate 0.6 %."""
    spec, key = ProblemSpec(CONTEXT_DIM, NUM_ACTIONS), named_key(0)
    context = correlated_data(steps=1).contexts[0]
    length = np.linalg.norm(np.append(context, 1.0))
    known, unknown = linear("LinPost"), linear("LinFullDiagPrecPost-MR")
    spread = np.sqrt(21.23 / 0.23 / 2.21) * length
    for policy, expected in ((known, stats.norm(0, length / 0.5)), (unknown, stats.t(0.46, scale=spread))):
        scores = draw_scores(policy, policy.init(key, spec), context, f"prior of {type(policy).__name__}")
        for action in range(NUM_ACTIONS):
            assert stats.kstest(scores[:, action], expected.cdf).pvalue > FALSE_ALARM
