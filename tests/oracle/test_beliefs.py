"""Beliefs and the choice between them against closed forms in float64 and plain NumPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from showdown.beliefs.best_predictor import Contest
from showdown.beliefs.choice import EarnedChoice
from showdown.beliefs.diagonal import DiagonalLinear
from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.features import ContextScale, PlainContexts, ScaledContexts
from showdown.beliefs.linear import GaussianLinear, StudentLinear
from showdown.beliefs.network_features import NetworkFeatures
from showdown.beliefs.scale_free import ScaleFreeLinear
from showdown.beliefs.side_by_side import SideBySide
from showdown.beliefs.stacking import Stack
from showdown.beliefs.tempered import TemperedLinear
from showdown.policies.shared.refit_beliefs import inverse_roots
from showdown.policies.shared.value_thompson import duel
from showdown.posteriors import network
from showdown.posteriors.moments import Moments
from showdown.protocol.keys import named_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

ACTIONS, DIM, ROWS = 2, 3, 30
GENERATOR = np.random.default_rng(0)
DESIGNS = GENERATOR.normal(size=(ROWS, DIM)).astype(np.float32)
PLAYED = GENERATOR.integers(ACTIONS, size=ROWS).astype(np.int32)
REWARDS = (DESIGNS @ [1.0, -2.0, 0.5] + PLAYED + 0.3 * GENERATOR.normal(size=ROWS)).astype(np.float32)
QUESTION = np.array([0.5, 1.0, -1.0], np.float32)


def exact(action: int, upto: int, precision: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and Σ of the coefficients under unit noise and the residual sum, from the first `upto` rows, in float64."""
    mine = PLAYED[:upto] == action
    rows, targets = DESIGNS[:upto][mine].astype(float), REWARDS[:upto][mine].astype(float)
    matrix = rows.T @ rows + precision * np.eye(DIM)
    mean = np.linalg.solve(matrix, rows.T @ targets)
    return mean, np.linalg.inv(matrix), float(targets @ targets - mean @ matrix @ mean)


def learn(belief, upto: int = ROWS):
    """The state after the first `upto` rows, and the log evidence of each."""

    def step(state, row):
        return belief.observe(state, *row)

    data = DESIGNS[:upto], PLAYED[:upto], REWARDS[:upto]
    return jax.jit(lambda: jax.lax.scan(step, belief.init(ACTIONS, DIM), data))()


def moments() -> Moments:
    member = np.eye(ACTIONS, dtype=np.float32)[PLAYED]
    return Moments(
        gram=jnp.asarray(np.einsum("ra,ri,rj->aij", member, DESIGNS, DESIGNS)),
        cross=jnp.asarray(np.einsum("ra,ri,r->ai", member, DESIGNS, REWARDS)),
        square=jnp.asarray(member.T @ REWARDS**2),
        rows=jnp.asarray(member.sum(axis=0)),
    )


def test_student_linear_is_the_conjugate_posterior_and_its_evidence_the_predictive_density():
    belief = StudentLinear(prior_precision=0.5, noise_shape=2.0, noise_rate=3.0)
    state, evidence = learn(belief)
    values = belief.values(state, QUESTION)
    for action in range(ACTIONS):
        mean, covariance, residual = exact(action, ROWS, 0.5)
        shape = 2.0 + (action == PLAYED).sum() / 2
        spread = np.sqrt((3.0 + residual / 2) / shape * QUESTION @ covariance @ QUESTION)
        assert values.mean[action] == pytest.approx(QUESTION @ mean, rel=1e-3)
        assert values.spread[action] == pytest.approx(spread, rel=1e-3)
        assert values.freedom[action] == pytest.approx(2 * shape)
    last = ROWS - 1
    mean, covariance, residual = exact(PLAYED[last], last, 0.5)
    shape = 2.0 + (PLAYED[:last] == PLAYED[last]).sum() / 2
    scale = np.sqrt((3.0 + residual / 2) / shape * (1 + DESIGNS[last] @ covariance @ DESIGNS[last]))
    expected = stats.t.logpdf(REWARDS[last], 2 * shape, loc=DESIGNS[last] @ mean, scale=scale)
    assert evidence[last] == pytest.approx(expected, rel=1e-3)


def test_gaussian_linear_knows_its_noise():
    belief = GaussianLinear(prior_precision=0.5, noise_variance=0.25)
    state, evidence = learn(belief)
    mean, covariance, _ = exact(0, ROWS, 0.5 * 0.25)
    values = belief.values(state, QUESTION)
    assert values.mean[0] == pytest.approx(QUESTION @ mean, rel=1e-3)
    assert values.spread[0] == pytest.approx(np.sqrt(0.25 * QUESTION @ covariance @ QUESTION), rel=1e-3)
    last = ROWS - 1
    mean, covariance, _ = exact(PLAYED[last], last, 0.5 * 0.25)
    deviation = np.sqrt(0.25 * (1 + DESIGNS[last] @ covariance @ DESIGNS[last]))
    expected = stats.norm.logpdf(REWARDS[last], DESIGNS[last] @ mean, deviation)
    assert evidence[last] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "belief",
    [
        GaussianLinear(covariance="diagonal", noise_variance=0.5),
        StudentLinear(covariance="precision-diagonal"),
        StudentLinear(compensated=False),
        ScaleFreeLinear(),
        TemperedLinear(),
    ],
    ids=lambda belief: type(belief).__name__,
)
def test_rebuilding_from_all_data_is_learning_it_row_by_row(belief):
    state, _ = learn(belief)
    rebuilt = belief.rebuild(state, moments())
    assert belief.values(state, QUESTION).noise is not None
    for one, other in zip(belief.values(state, QUESTION), belief.values(rebuilt, QUESTION), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3)
    root = inverse_roots([belief.precision(moments())])[0]
    with_root = belief.rebuild(state, moments(), root)
    np.testing.assert_allclose(belief.values(with_root, QUESTION).mean, belief.values(state, QUESTION).mean, rtol=2e-3)


def test_scale_free_values_are_those_of_its_formula():
    belief = ScaleFreeLinear(
        prior_precision=0.2, noise_shape=1.5, noise_level=0.3, tempering=0.4, doubt=0.25, doubt_pulls=10.0
    )
    state, _ = learn(belief)
    values = belief.values(state, QUESTION)
    square = np.mean(REWARDS.astype(float) ** 2)
    for action in range(ACTIONS):
        mine = REWARDS[action == PLAYED].astype(float)
        mean, covariance, residual = exact(action, ROWS, 0.2)
        shape = 1.5 + len(mine) / 2
        noise = (1.5 * 0.3 * square + 0.4 * residual / 2) / shape
        level = mine.mean() ** 2 / np.mean(mine**2)
        doubt = (0.25 * level) ** 2 * square * 10.0 / (10.0 + len(mine))
        assert values.mean[action] == pytest.approx(QUESTION @ mean, rel=1e-3)
        assert values.spread[action] == pytest.approx(
            np.sqrt(noise * QUESTION @ covariance @ QUESTION + doubt), rel=1e-3
        )


def test_tempered_values_are_those_of_its_formula():
    fields = {"prior_precision": 0.2, "noise_level": 0.3, "tempering": 0.4, "tempering_pulls": 7.0, "doubt": 0.9}
    belief = TemperedLinear(**fields, hope=0.0)
    state, _ = learn(belief)
    values = belief.values(state, QUESTION)
    square = np.mean(REWARDS.astype(float) ** 2)
    for action in range(ACTIONS):
        mine = REWARDS[action == PLAYED].astype(float)
        mean, covariance, residual = exact(action, ROWS, 0.2)
        pulls = len(mine)
        tempered = 0.4 + 0.6 * 7.0 / (7.0 + pulls)
        noise = (0.3 * square + tempered * residual / 2) / (1 + pulls / 2)
        doubt = (0.9 * (mine.mean() ** 2 / np.mean(mine**2)) ** (1 + pulls)) ** 2 * square
        assert values.mean[action] == pytest.approx(QUESTION @ mean, rel=1e-3)
        assert values.spread[action] == pytest.approx(
            np.sqrt(noise * QUESTION @ covariance @ QUESTION + doubt), rel=1e-3
        )
        assert values.freedom[action] == 2 + pulls
    # hope: in some of these contexts the best mean is more than one deviation below the usual reward
    usual, deviation, sizes = REWARDS.mean(), REWARDS.std(), (0.0, 1.0, -1.0, 4.0, -4.0)
    best = np.array([belief.values(state, QUESTION * size).mean.max() for size in sizes])
    lacking = np.clip((usual - best) / deviation - 1, 0, 1)
    hopeful = TemperedLinear(**fields, hope=1.5)
    for size, lack in zip(sizes, lacking, strict=True):
        without, with_hope = (each.values(state, QUESTION * size).spread for each in (belief, hopeful))
        np.testing.assert_allclose(with_hope, np.sqrt(without**2 + (1.5 * deviation * lack) ** 2), rtol=1e-3)
    assert lacking.min() == 0
    assert lacking.max() > 0.3


def test_only_an_action_that_never_varied_stays_in_doubt():
    belief = TemperedLinear(doubt=0.5, noise_level=1e-6, tempering=0.0, tempering_pulls=0.0, hope=0.0)
    rows = jnp.array([60.0, 60.0, 60.0, 0.0])  # constant, 95 % ones, all zeros, never played
    state = belief.init(4, DIM)._replace(
        rows=rows, rewards=jnp.array([60.0, 57.0, 0.0, 0.0]), squares=jnp.array([60.0, 57.0, 0.0, 0.0])
    )
    known = state.regressions._replace(root=1e-6 * state.regressions.root)
    spread = belief.values(state._replace(regressions=known), QUESTION).spread
    unit = np.sqrt(117 / 180)
    np.testing.assert_allclose(spread, [0.5 * unit, 0.5 * unit * 0.95**61, 0, 0], atol=1e-4)


def test_the_contest_weighs_errors_by_their_place_and_is_drawn_by_its_law():
    errors = (GENERATOR.exponential(size=(50, 3)) + np.array([0.0, 0.1, 0.2])).astype(np.float32)
    contest, _ = jax.lax.scan(lambda contest, row: (contest.observe(row), None), Contest.start(3), jnp.asarray(errors))
    apart = errors - errors.mean(axis=1, keepdims=True)
    weight = np.arange(1, 51) / 50
    np.testing.assert_allclose(contest.sums, weight @ apart, rtol=1e-4)
    np.testing.assert_allclose(contest.deviation, np.sqrt(weight**2 @ apart**2), rtol=1e-4)
    large = Contest.start(2).observe(jnp.array([1e25, 3e25]))  # of rewards of about 5e12: their fourth power overflows
    np.testing.assert_allclose(large.deviation, [1e25, 1e25], rtol=1e-5)
    assert large.law(0.7)[0] > 0.5
    keys = jax.random.split(named_key(0, "contest"), 4000)
    drawn = jax.vmap(contest.draw, in_axes=(0, None))(keys, 0.7)
    law = contest.law(0.7)
    assert law.sum() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 4000, law, atol=0.04)  # five standard errors
    assert contest.draw(keys[0], 0.0) == np.argmin(contest.sums)
    assert contest.law(0.0)[np.argmin(contest.sums)] == pytest.approx(1.0)
    np.testing.assert_array_equal(Contest.start(2).law(0.7), [1.0, 0.0])  # nothing is known: the first


def test_stacked_predictions_err_least_and_their_older_errors_count_less():
    rewards = GENERATOR.normal(size=200)
    predicted = rewards[:, None] * np.array([0.9, 0.2, 0.6]) + GENERATOR.normal(size=(200, 3)) * np.array(
        [0.7, 0.5, 0.6]
    )
    rows = jnp.asarray(predicted, jnp.float32), jnp.asarray(rewards, jnp.float32)
    age = np.arange(1, 201) / 200

    def error(weights: np.ndarray) -> float:
        return float(age @ (predicted[:, : len(weights)] @ weights - rewards) ** 2)

    def weights(count: int) -> np.ndarray:
        def step(stack: Stack, row: tuple[jax.Array, jax.Array]) -> tuple[Stack, None]:
            return stack.observe(row[0][:count], row[1]), None

        return np.asarray(jax.lax.scan(step, Stack.start(count), rows)[0].weights())

    grid = np.linspace(0, 1, 1001)
    best = grid[np.argmin([error(np.array([share, 1 - share])) for share in grid])]
    assert 0.1 < best < 0.9
    np.testing.assert_allclose(weights(2), [best, 1 - best], atol=1e-3)
    three = weights(3)
    assert three.sum() == pytest.approx(1.0)
    assert three.min() >= 0
    assert error(three) < min(error(np.eye(3)[one]) for one in range(3))
    assert error(three) <= error(weights(2))
    np.testing.assert_array_equal(weights(1), [1.0])
    np.testing.assert_array_equal(Stack.start(2).weights(), [0.5, 0.5])  # nothing is known
    same = Stack.start(2).observe(jnp.array([0.3, 0.3]), jnp.float32(1.0))
    np.testing.assert_array_equal(same.weights(), [0.5, 0.5])  # they have never differed


def test_training_is_harder_at_first():
    features = DropoutFeatures(early_training=3.0)
    updates = [int(features.updates(jnp.int32(count))) for count in (20, 500, 1000, 4000, 100_000)]
    assert updates == [78, 50, 40, 133, 203]
    assert int(DropoutFeatures(early_training=0.0).updates(jnp.int32(4000))) == 100


def test_networks_side_by_side_make_one_design_and_start_apart():
    features = SideBySide(networks=2, hidden_layers=(4,))
    spec = ProblemSpec(context_dim=3, num_actions=2)
    state = features.init(named_key(0, "features"), spec)
    design = features.design(state, jnp.ones((5, 3)))
    assert design.shape == (5, features.dim(spec)) == (5, 2 * 4 + 3 + 1)
    first, second = (jax.tree.map(lambda leaf, at=at: leaf[at], state.averaged) for at in (0, 1))
    inputs = jnp.ones(4)  # contexts of ones are scaled to ones; the constant
    alone = [network.features(each, inputs) / np.sqrt(8) for each in (first, second)]
    np.testing.assert_allclose(design[0, :8], np.concatenate(alone), rtol=1e-5)
    assert np.abs(alone[0] - alone[1]).max() > 0.01


def test_factorising_several_stacks_at_once_is_factorising_each():
    matrices = [np.cov(GENERATOR.normal(size=(dim, 40))) + np.eye(dim) for dim in (3, 5)]
    roots = inverse_roots([jnp.asarray(matrix[None], jnp.float32) for matrix in matrices])
    for matrix, root in zip(matrices, roots, strict=True):
        assert root.shape == (1, *matrix.shape)
        np.testing.assert_allclose(root[0] @ root[0].T, np.linalg.inv(matrix), rtol=1e-4, atol=1e-5)


def test_choice_keeps_weighted_rewards_of_disagreements_only():
    choice = EarnedChoice(forgetting=2.0)
    leaders = GENERATOR.integers(3, size=(40, 2)).astype(np.int32)
    actions = GENERATOR.integers(3, size=40).astype(np.int32)
    rewards = GENERATOR.normal(size=40).astype(np.float32)
    evidence = GENERATOR.normal(size=(40, 2)).astype(np.float32)

    def step(state, row):
        return choice.observe(state, *row), None

    state, _ = jax.lax.scan(step, choice.init(2), (evidence, leaders, actions, rewards))
    differ = leaders[:, 0] != leaders[:, 1]
    number = np.cumsum(differ)
    weight = np.where(differ, (number / number[-1]) ** 2.0, 0.0)
    credited = differ[:, None] & (leaders == actions[:, None])
    np.testing.assert_allclose(state.times, weight @ credited, rtol=1e-4)
    np.testing.assert_allclose(state.earned, (weight * rewards) @ credited, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(state.evidence, evidence.sum(axis=0), rtol=1e-4)
    assert state.seen == 40
    assert state.squares == pytest.approx(np.sum(rewards**2), rel=1e-5)


def test_choice_follows_what_was_earned_and_leans_to_evidence_before_that():
    choice = EarnedChoice(pseudo_rewards=10.0, lean=1.0, spread=0.5)
    start = choice.init(2)._replace(squares=jnp.float32(100.0), seen=jnp.float32(100.0))  # rewards of about 1
    keys = jax.random.split(named_key(0, "choice"), 500)
    share = jax.jit(lambda state: jax.vmap(choice.draw, in_axes=(0, None))(keys, state).mean())
    assert 0.4 < share(start) < 0.6  # five standard errors of a fair coin are 0.11
    leaning = start._replace(evidence=jnp.array([3.0, 5.0]))
    assert share(leaning) > 0.95
    earned = leaning._replace(earned=jnp.array([900.0, 100.0]), times=jnp.array([1000.0, 1000.0]))
    assert share(earned) < 0.05


def test_duel_is_thompson_sampling_for_two_actions_and_its_rival_is_uniform():
    two, four = (Situation(jnp.zeros(1), jnp.int32(0), ProblemSpec(1, actions)) for actions in (2, 4))
    means, draws = jnp.array([0.0, 1.0]), jnp.array([0.4, 0.3])
    assert duel(named_key(0, "duel"), two, means, draws) == 0  # the rival's draw is larger
    means, draws = jnp.array([1.0, 0.0, 0.0, 0.0]), jnp.array([0.0, 1.0, 1.0, 1.0])  # any rival wins
    keys = jax.random.split(named_key(1, "duel"), 3000)
    counts = np.bincount(jax.vmap(lambda key: duel(key, four, means, draws))(keys), minlength=4)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 1e-4  # false alarm once in 10,000 seeds; the seed is fixed


def test_contexts_are_scaled_by_one_number_set_by_the_first_and_refined_by_refits():
    contexts = 5.0 * GENERATOR.normal(size=(20, 4)).astype(np.float32)
    scale = ContextScale.start().observe(contexts[0])
    assert scale.used == pytest.approx(np.sqrt(np.mean(contexts[0] ** 2)), rel=1e-5)
    for context in contexts[1:]:
        scale = scale.observe(context)
    assert scale.refit().used == pytest.approx(np.sqrt(np.mean(contexts**2)), rel=1e-5)
    design = ScaledContexts().design(scale.refit(), jnp.asarray(contexts))
    assert np.mean(np.sum(design[:, :-1] ** 2, axis=1)) == pytest.approx(1.0, rel=1e-4)
    assert (design[:, -1] == 1).all()
    assert ContextScale.start().observe(jnp.zeros(3)).refit().used == 1.0  # no unit to be had from zeros
    assert PlainContexts(intercept=False).design(None, jnp.asarray(contexts)).shape == (20, 4)


def test_network_features_end_with_the_scaled_context_and_follow_their_schedule():
    features = NetworkFeatures(hidden_layers=(32, 16), refit_every=20)
    spec = ProblemSpec(context_dim=3, num_actions=2)
    state = features.init(named_key(0, "features"), spec)
    state = features.observe(state, jnp.array([2.0, 2.0, 2.0]), jnp.float32(3.0))
    design = features.design(state, jnp.array([4.0, 0.0, 0.0]))
    assert design.shape == (features.dim(spec),) == (16 + 3 + 1,)
    np.testing.assert_allclose(design[-4:], [2 / np.sqrt(3), 0, 0, 1], rtol=1e-5)
    longer = features.design(state, jnp.array([8.0, 0.0, 0.0]))
    assert np.abs(longer[:16] - design[:16]).max() > 1e-3  # layer norm does not hide how long a context is
    due = [count for count in range(20, 6001, 20) if features.due(jnp.int32(count))]
    assert [count for count in due if count <= 1000] == list(range(20, 1001, 20))
    assert [count for count in due if 1000 < count <= 4000] == list(range(1100, 4001, 100))
    assert [count for count in due if count > 4000] == list(range(4200, 6001, 200))


def test_a_diagonal_belief_keeps_the_marginals_of_each_exact_step():
    """Σ is formed from the diagonal before each reward, updated exactly, and all but its diagonal is thrown away."""
    belief = DiagonalLinear(prior_precision=0.5, noise_shape=2.0, noise_rate=3.0)
    state, evidence = learn(belief)
    mean, covariance = np.zeros((ACTIONS, DIM)), np.tile(np.eye(DIM) / (0.5 * DIM), (ACTIONS, 1, 1))
    shape, rate, logs = np.full(ACTIONS, 2.0), np.full(ACTIONS, 3.0), []
    for x, action, reward in zip(DESIGNS.astype(float), PLAYED, REWARDS.astype(float), strict=True):
        precision = np.linalg.inv(covariance[action]) + np.outer(x, x)
        scale = 1 + x @ covariance[action] @ x
        law = stats.t(2 * shape[action], x @ mean[action], np.sqrt(rate[action] / shape[action] * scale))
        logs.append(law.logpdf(reward))
        rate[action] += (reward - x @ mean[action]) ** 2 / scale / 2
        shape[action] += 0.5
        before = np.linalg.solve(covariance[action], mean[action])
        mean[action] = np.linalg.solve(precision, before + x * reward)
        covariance[action] = np.diag(np.diag(np.linalg.inv(precision)))
    values = belief.values(state, QUESTION)
    np.testing.assert_allclose(state.mean, mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(evidence, logs, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values.mean, mean @ QUESTION, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values.spread**2, rate / shape * (QUESTION @ covariance @ QUESTION), rtol=1e-4)
    np.testing.assert_allclose(values.spread**2, rate / shape * (QUESTION @ covariance @ QUESTION), rtol=1e-4)
    np.testing.assert_allclose(values.freedom, 2 * shape)


def test_a_diagonal_belief_goes_on_learning_from_large_numbers():
    belief, design = DiagonalLinear(), jnp.array([1e5, 1.0])
    state = belief.init(1, 2)
    for _ in range(20):
        state, _ = belief.observe(state, design, jnp.int32(0), jnp.float32(3.0))
        assert (np.asarray(state.variance) > 0).all()
