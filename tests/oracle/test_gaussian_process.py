"""The exact multi-task process against scikit-learn's and NumPy's in float64.

scikit-learn has no kernel on part of the columns, so one is given to it here: a context, the context in units of the
linear length scales and the action's latent vector stand side by side, and each of its own kernels reads its part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Kernel, Matern
from threadpoolctl import threadpool_limits

from showdown.policies.gaussian_process import GaussianProcess, ProcessState
from showdown.policies.sparse_gaussian_process import SparseGaussianProcess
from showdown.posteriors import float64, gaussian_process, inverse_factor, multitask_kernel
from showdown.posteriors.gaussian_process import Points
from showdown.posteriors.multitask_kernel import Hyperparameters
from showdown.protocol.keys import named_key
from showdown.protocol.policy import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

DIM, ACTIONS, TASK_DIM = 3, 4, 2
SPEC = ProblemSpec(DIM, ACTIONS)
COUNT, SIZE = 20, 26  # rows filled, rows in all: six stay empty
DRAWS = 2000


class Data(NamedTuple):
    contexts: np.ndarray  # (steps, DIM)
    actions: np.ndarray  # (steps,)
    targets: np.ndarray  # (steps,)


def data(steps: int = COUNT, seed: int = 0) -> Data:
    generator = np.random.default_rng(seed)
    contexts = generator.normal(size=(steps, DIM)).astype(np.float32)
    actions = generator.integers(ACTIONS, size=steps).astype(np.int32)
    targets = np.sin(contexts[:, 0] + actions) + 0.1 * generator.normal(size=steps)
    return Data(contexts, actions, targets.astype(np.float32))


def hyperparameters(seed: int = 1) -> Hyperparameters:
    generator = np.random.default_rng(seed)
    shapes = ((), (), (DIM,), (DIM,), (), (ACTIONS, TASK_DIM), (ACTIONS,))
    drawn = [0.5 * generator.normal(size=shape) for shape in shapes]
    return Hyperparameters(*(np.asarray(each, np.float32).astype(np.float64) for each in drawn))


def buffers(observed: Data, size: int = SIZE) -> tuple[Points, jax.Array]:
    """Points and targets in float64, padded to `size` with numbers that must not matter."""
    spare = size - len(observed.actions)
    contexts = np.vstack([observed.contexts, np.full((spare, DIM), 7.0)])
    actions = np.append(observed.actions, np.ones(spare, np.int32))
    points = Points(
        jnp.asarray(contexts, jnp.float64), jnp.asarray(actions, jnp.int32), jnp.int32(len(observed.actions))
    )
    return points, jnp.asarray(np.append(observed.targets, np.zeros(spare)), jnp.float64)


def softplus(value):
    return np.logaddexp(0.0, value)


class Columns(Kernel):
    """One of scikit-learn's kernels on some of the columns."""

    def __init__(self, kernel, start, stop):
        self.kernel, self.start, self.stop = kernel, start, stop

    def __call__(self, left, right=None, eval_gradient=False):
        right = left if right is None else right
        return self.kernel(left[:, self.start : self.stop], right[:, self.start : self.stop])

    def diag(self, rows):
        return self.kernel.diag(rows[:, self.start : self.stop])

    def is_stationary(self):
        return False


def sklearn_process(values: Hyperparameters, combination: str) -> GaussianProcessRegressor:
    amplitude, linear_amplitude = (ConstantKernel(softplus(values[each]), "fixed") for each in (0, 1))
    matern = Matern(length_scale=softplus(values.length_scales), nu=1.5, length_scale_bounds="fixed")
    matern = Columns(amplitude * matern, 0, DIM)
    linear = Columns(linear_amplitude * DotProduct(0.0, "fixed"), DIM, 2 * DIM)
    task = Columns(RBF(np.sqrt(0.5), "fixed"), 2 * DIM, 2 * DIM + TASK_DIM)
    of_contexts = matern + linear if combination == "sum" else matern * linear
    return GaussianProcessRegressor(of_contexts * task, alpha=softplus(values.noise) + 1e-6, optimizer=None)


def sklearn_rows(values: Hyperparameters, contexts: np.ndarray, actions: np.ndarray) -> np.ndarray:
    contexts = contexts.astype(np.float64)
    return np.hstack([contexts, contexts / softplus(values.linear_length_scales), values.tasks[actions]])


@pytest.mark.parametrize("combination", ["sum", "product"])
def test_prediction_is_scikit_learns(combination):
    values, observed = hyperparameters(), data()
    context = np.array([0.3, -0.8, 1.1], np.float32)
    oracle = sklearn_process(values, combination)
    oracle.fit(sklearn_rows(values, observed.contexts, observed.actions), observed.targets.astype(np.float64))
    everywhere = sklearn_rows(values, np.tile(context, (ACTIONS, 1)), np.arange(ACTIONS))
    wanted_mean, wanted_covariance = oracle.predict(everywhere, return_cov=True)
    with float64.enabled():
        points, targets = buffers(observed)

        @jax.jit
        def predict(values, points, targets, context):
            factor, jitter = inverse_factor.factorise(gaussian_process.of_observations(values, points, combination))
            return gaussian_process.predict(values, points, targets, factor, context, combination), jitter

        (mean, covariance), jitter = predict(values, points, targets, jnp.asarray(context, jnp.float64))
    assert jitter == 0
    np.testing.assert_allclose(mean, wanted_mean, atol=1e-6)
    np.testing.assert_allclose(covariance, wanted_covariance, atol=1e-6)


@pytest.mark.parametrize("combination", ["sum", "product"])
def test_evidence_and_its_gradient_are_scikit_learns(combination):
    """scikit-learn's own value; the gradient by central differences of it, good to about 1e-9."""
    values, observed = hyperparameters(), data()
    rows = observed.targets.astype(np.float64)

    def oracle(values: Hyperparameters) -> float:
        process = sklearn_process(values, combination)
        process.fit(sklearn_rows(values, observed.contexts, observed.actions), rows - values.means[observed.actions])
        return process.log_marginal_likelihood_value_

    def slope(name: str, index: tuple[int, ...], step: float = 1e-5) -> float:
        ends = []
        for sign in (1, -1):
            moved = np.array(getattr(values, name))
            moved[index] += sign * step
            ends.append(oracle(values._replace(**{name: moved})))
        return (ends[0] - ends[1]) / (2 * step)

    with float64.enabled():
        points, targets = buffers(observed)

        def evidence(values):
            centred = jnp.where(gaussian_process.filled(points), targets - values.means[points.actions], 0.0)
            return gaussian_process.log_marginal_likelihood(values, points, centred, combination)

        value, gradient = jax.jit(jax.value_and_grad(evidence))(jax.tree.map(jnp.asarray, values))
    value, gradient = jax.tree.map(np.asarray, (value, gradient))  # JAX would compare in float32
    assert abs(value - oracle(values)) < 1e-6
    for name in Hyperparameters._fields:
        for index in np.ndindex(getattr(values, name).shape):
            assert abs(getattr(gradient, name)[index] - slope(name, index)) < 1e-6, (name, index)


def test_priors_are_those_of_the_specification():
    values = hyperparameters()
    wanted = -0.5 * (values.amplitude**2 + values.linear_amplitude**2 + np.exp(values.noise) ** 2)
    wanted -= 0.5 * np.sum((values.tasks / 10) ** 2)
    np.testing.assert_allclose(multitask_kernel.log_prior(values), wanted, rtol=1e-6)


def test_a_thousand_appended_rows_are_a_fresh_factorisation():
    size = 1000
    observed, values = data(size), hyperparameters()
    with float64.enabled():
        points, _ = buffers(observed, size)
        values = jax.tree.map(jnp.asarray, values)

        @jax.jit
        def appended(values, points):
            def append(factor, index):
                row, _ = gaussian_process.row_for(
                    values,
                    points._replace(number=index),
                    factor,
                    points.contexts[index],
                    points.actions[index],
                    multitask_kernel.noise_variance(values),
                    "sum",
                )
                return factor.at[index].set(row), None

            return jax.lax.scan(append, jnp.eye(size), jnp.arange(size, dtype=jnp.int32))[0]

        grown = np.asarray(appended(values, points))
        matrix = np.asarray(gaussian_process.of_observations(values, points, "sum"))
        recursive, jitter = jax.jit(inverse_factor.factorise)(matrix)
    with threadpool_limits(1):  # on a busy machine BLAS's own threads stall
        lower = scipy.linalg.cholesky(matrix, lower=True)
        fresh = scipy.linalg.solve_triangular(lower, np.eye(size), lower=True)
    assert jitter == 0
    np.testing.assert_allclose(recursive, fresh, atol=1e-8)
    np.testing.assert_allclose(grown, fresh, atol=1e-8)


@jax.jit
def observed_by(policy: GaussianProcess, states: ProcessState, observed: Data) -> ProcessState:
    """Updates as the loop runs them: compiled, scanned, and several trials in parallel."""

    spec = spec_of(states, observed.contexts)

    def one_trial(state):
        def step(state, row):
            situation = Situation(row.contexts, jnp.int32(0), spec)
            return policy.update(jax.random.key(0), state, situation, row.actions, row.targets), None

        return jax.lax.scan(step, state, observed)[0]

    return jax.vmap(one_trial)(states)


def observe(policy: GaussianProcess, state: ProcessState, observed: Data, trials: int = 2) -> ProcessState:
    many = jax.tree.map(lambda leaf: jnp.stack([leaf] * trials), state)
    return observed_by(policy, many, Data(*map(jnp.asarray, observed)))


@jax.jit
def refitted(policy: GaussianProcess, states: ProcessState) -> ProcessState:
    points = states.points
    nothing = points.actions[0], states.rewards[0], lambda rows: points.contexts[0, rows]  # all is in the state
    history = History(spec_of(states, points.contexts), points.number[0], *nothing)
    return jax.vmap(lambda state: policy.refit(jax.random.key(1), state, history))(states)


def spec_of(states: ProcessState, contexts: jax.Array) -> ProblemSpec:
    return ProblemSpec(contexts.shape[-1], states.scale.centre.shape[-1])


def matrix_of(state: ProcessState, observed: Data) -> np.ndarray:
    """The covariance of the observations, by NumPy."""
    values = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), state.fit.parameters)
    process = sklearn_process(values, "sum")
    rows = sklearn_rows(values, observed.contexts, observed.actions)
    return process.kernel(rows) + (softplus(values.noise) + 1e-6) * np.eye(len(rows))


# most tests ask this policy, and of twenty rows, so that it is compiled once
POLICY = GaussianProcess(max_points=SIZE, task_dim=TASK_DIM, training_steps=5, refit_every=COUNT)


def start() -> ProcessState:
    return POLICY.init(named_key(0, "init"), SPEC)


@pytest.fixture(scope="module")
def played() -> tuple[GaussianProcess, ProcessState, Data]:
    """A policy that has seen more than it keeps, trained in between."""
    observed = data(SIZE + 4)
    first, second = (Data(*(array[part] for array in observed)) for part in (slice(COUNT), slice(COUNT, None)))
    many = refitted(POLICY, observe(POLICY, start(), first))
    return POLICY, observe(POLICY, jax.tree.map(lambda leaf: leaf[0], many), second), observed


def test_the_compiled_loop_keeps_float64(played):
    """Float32 alone would leave errors near 1e-6."""
    _, state, observed = played
    kept = Data(*(array[:SIZE] for array in observed))
    for trial in range(2):
        one = jax.tree.map(lambda leaf, trial=trial: leaf[trial], state)
        lower = np.linalg.cholesky(matrix_of(one, kept))
        with float64.enabled():
            factor = np.asarray(float64.join(one.factor))
        np.testing.assert_allclose(factor @ lower, np.eye(SIZE), atol=1e-10)


def test_the_buffer_keeps_the_first_observations_and_then_stands_still(played):
    _, state, observed = played
    np.testing.assert_array_equal(state.points.contexts[0], observed.contexts[:SIZE])
    np.testing.assert_array_equal(state.points.actions[0], observed.actions[:SIZE])
    np.testing.assert_array_equal(state.rewards[0], observed.targets[:SIZE])
    assert state.points.number[0] == SIZE


def test_training_climbs_the_evidence():
    many = observe(POLICY, start(), data())
    before, after = (jax.tree.map(lambda leaf: leaf[0], each) for each in (many, _refitted_often(many)))
    scaled = after.scale  # the same targets for both

    @jax.jit
    def objective(state):
        with float64.enabled():
            values, points = float64.raised((state.fit.parameters, state.points))
            targets = POLICY.known_targets(values, state._replace(scale=scaled))
            evidence = gaussian_process.log_marginal_likelihood(values, points, targets, "sum")
            return (evidence + multitask_kernel.log_prior(values)).astype(jnp.float32)

    assert objective(after) > objective(before) + 1
    for own in ("centre", "deviation"):
        assert (getattr(after.scale, own) != getattr(before.scale, own)).all()


def _refitted_often(states: ProcessState) -> ProcessState:
    for _ in range(10):
        states = refitted(POLICY, states)
    return states


def test_rewards_are_scaled_by_action():
    observed = data()
    actions = np.where(observed.actions == 3, 2, observed.actions)  # action 3 is never played
    own = [observed.targets[actions == action] for action in range(3)]
    padded = [jnp.asarray(np.append(array, [0, 1, 2]).astype(array.dtype)) for array in (actions, observed.targets)]
    mean, deviation = gaussian_process.reward_moments(*padded, jnp.int32(COUNT), ACTIONS, False)
    np.testing.assert_allclose(mean, [*(each.mean() for each in own), 0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(deviation, [*(np.sqrt(1e-4 + each.var()) for each in own), 1], rtol=1e-5)
    _, inflated = gaussian_process.reward_moments(*padded, jnp.int32(COUNT), ACTIONS, True)
    unplayed = [np.where(actions == action, observed.targets, 0) for action in range(3)]
    squares = [np.sum((all_steps - each.mean()) ** 2) for all_steps, each in zip(unplayed, own, strict=True)]
    wanted = [np.sqrt(1e-4 + square / len(each)) for square, each in zip(squares, own, strict=True)]
    np.testing.assert_allclose(inflated, [*wanted, 1], rtol=1e-5)


def test_pooled_rewards_have_one_scale():
    observed = data()
    policy = GaussianProcess(reward_scale="pooled")
    centre, deviation = policy.scale_of(*map(jnp.asarray, observed[1:]), jnp.int32(COUNT), ACTIONS)
    np.testing.assert_allclose(centre, np.full(ACTIONS, observed.targets.mean()), rtol=1e-5)
    np.testing.assert_allclose(deviation, np.full(ACTIONS, np.sqrt(1e-4 + observed.targets.var())), rtol=1e-5)


def test_two_actions_with_one_function_become_one():
    """Though seen on different sides, from task vectors far apart: the evidence is highest where they are one.

    Their own means and deviations would make two functions of it.
    """
    generator, count = np.random.default_rng(0), 60
    actions = np.arange(count, dtype=np.int32) % 3
    contexts = generator.uniform(-2, 2, (count, 1)).astype(np.float32)
    contexts[actions == 1] = -np.abs(contexts[actions == 1])
    shared, other = np.sin(2 * contexts[:, 0]) + 0.3 * contexts[:, 0], np.cos(3 * contexts[:, 0])
    rewards = (np.where(actions == 2, other, shared) + 0.1 * generator.normal(size=count)).astype(np.float32)
    policy = GaussianProcess(max_points=count, training_steps=600, reward_scale="pooled")
    state = policy.init(named_key(0, "init"), ProblemSpec(1, 3))
    assert multitask_kernel.of_tasks(state.fit.parameters)[0, 1] < 0.3
    state = observe(policy, state, Data(contexts, actions, rewards), trials=1)
    after = refitted(policy, state)
    alike = jax.vmap(multitask_kernel.of_tasks)(after.fit.parameters)[0]
    assert alike[0, 1] > 0.95
    assert alike[0, 2] < 0.5


@pytest.mark.parametrize("centre", ["own", "released"])
def test_trained_means_move_only_where_they_are_asked_for(centre):
    policy = replace(POLICY, reward_scale=centre)
    means = refitted(policy, observe(policy, start(), data())).fit.parameters.means
    assert (means != 0).all() if centre == "released" else (means == 0).all()


def test_a_joint_draw_shows_that_two_actions_are_one():
    """Actions 0 and 1 share a latent vector, action 2's is far from theirs.

    The correlation of independent draws is within 0.1 of zero except with probability 1e-5.
    """
    policy = GaussianProcess(max_points=8, task_dim=TASK_DIM)
    spec = ProblemSpec(DIM, 3)
    state = policy.init(named_key(0, "init"), spec)
    tasks = jnp.array([[0.5, 0.0], [0.5, 0.0], [9.0, 9.0]])
    state = state._replace(fit=state.fit._replace(parameters=state.fit.parameters._replace(tasks=tasks)))
    rows = Data(*(array[:6] for array in data()))._replace(actions=np.array([0, 2, 0, 2, 0, 2], np.int32))
    state = jax.tree.map(lambda leaf: leaf[0], observe(policy, state, rows, trials=1))
    keys = jax.random.split(named_key(0, "draws"), DRAWS)
    situation = Situation(jnp.ones(DIM), jnp.int32(0), spec)
    draws = np.asarray(jax.jit(jax.vmap(policy.scores, (0, None, None)))(keys, state, situation))
    assert draws.std(axis=0).min() > 0.1
    np.testing.assert_allclose(draws[:, 0], draws[:, 1], atol=1e-6)
    assert abs(np.corrcoef(draws[:, 0], draws[:, 2])[0, 1]) < 0.1


@pytest.mark.parametrize("kind", ["posterior", "squared"])
def test_draws_have_the_predicted_mean_and_covariance(kind, played):
    """Of 20,000 draws; each of the 14 numbers is 5 standard errors off, and the test fails, once in a million."""
    policy, state, _ = played
    policy = replace(policy, draws=kind)
    state = jax.tree.map(lambda leaf: leaf[0], state)
    context = jnp.array([0.2, 0.1, -0.4])

    @jax.jit
    def moments(state):
        with float64.enabled():
            values, points = float64.raised((state.fit.parameters, state.points))
            targets = policy.known_targets(values, state)
            factor = float64.join(state.factor)
            predicted = gaussian_process.predict(values, points, targets, factor, context.astype(jnp.float64), "sum")
            return float64.lowered(predicted)

    mean, covariance = moments(state)
    covariance = covariance @ covariance if kind == "squared" else covariance
    number = 20_000
    keys = jax.random.split(named_key(0, "many draws"), number)
    draws = jax.jit(jax.vmap(policy.scores, (0, None, None)))(keys, state, Situation(context, jnp.int32(0), SPEC))
    values = (np.asarray(draws) - state.scale.centre) / state.scale.deviation
    variances = np.diag(covariance)
    np.testing.assert_array_less(np.abs(values.mean(axis=0) - mean), 5 * np.sqrt(variances / number))
    error = 5 * np.sqrt((np.outer(variances, variances) + covariance**2) / number)
    np.testing.assert_array_less(np.abs(np.cov(values.T) - covariance), error)


@pytest.mark.parametrize("rank", [1, 3, 4])
def test_semidefinite_root(rank):
    half = np.random.default_rng(0).normal(size=(4, rank))
    covariance = (half @ half.T).astype(np.float32)
    root = inverse_factor.semidefinite_root(jnp.asarray(covariance))
    np.testing.assert_allclose(root @ root.T, covariance, atol=1e-5)
    assert jnp.isfinite(inverse_factor.semidefinite_root(jnp.zeros((3, 3)))).all()


def test_jitter_grows_as_needed_and_is_told():
    with float64.enabled():
        factorise = jax.jit(jax.vmap(inverse_factor.factorise))
        singular, indefinite = jnp.ones((5, 5)), jnp.ones((5, 5)) - 1e-4 * jnp.eye(5)
        factor, jitter = factorise(jnp.stack([jnp.eye(5), singular, indefinite, jnp.full((5, 5), jnp.nan)]))
    assert jnp.isfinite(factor[:3]).all()
    assert jitter[0] == 0
    assert 0 < jitter[1] < 1e-10
    assert 1e-4 < jitter[2] < 1e-2
    assert not jnp.isfinite(factor[3]).all()  # the loop then reports that the policy diverged


def test_empty_rows_of_a_buffer_do_not_change_the_jitter():
    with float64.enabled():
        full, buffer = jnp.full((5, 5), 1e6), jnp.eye(40).at[:5, :5].set(1e6)
        jitter = [float(jax.jit(inverse_factor.factorise)(matrix)[1]) for matrix in (full, buffer)]
    assert jitter[0] == jitter[1] > 0


@pytest.mark.parametrize("kind", [GaussianProcess, SparseGaussianProcess])
def test_jitter_of_appended_rows_is_told_before_any_refit(kind):
    sizes = {"max_points": 8} if kind is GaussianProcess else {"num_inducing": 8}
    policy = kind(task_dim=TASK_DIM, **sizes)
    for level, needed in ((1.0, False), (1e9, True)):
        rows = Data(np.full((6, DIM), level, np.float32), np.arange(6, dtype=np.int32) % 2, np.ones(6, np.float32))
        state = observe(policy, policy.init(named_key(0, "init"), SPEC), rows)
        assert ((state.jitter > 0) == needed).all()
        assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(state))


def test_huge_duplicated_contexts_need_jitter_and_keep_working():
    actions = np.arange(COUNT, dtype=np.int32) % ACTIONS
    rows = Data(np.full((COUNT, DIM), 1e9, np.float32), actions, np.ones(COUNT, np.float32))
    state = refitted(POLICY, observe(POLICY, start(), rows))
    assert (state.jitter > 0).all()
    for leaf in jax.tree.leaves(state):
        assert jnp.isfinite(leaf).all()
    situation = Situation(jnp.ones(DIM), jnp.int32(0), SPEC)
    values = jax.jit(jax.vmap(POLICY.scores, (None, 0, None)))(jax.random.key(2), state, situation)
    assert jnp.isfinite(values).all()
