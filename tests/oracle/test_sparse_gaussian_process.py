"""The sparse process against the exact one: equal where inducing points are the data, a bound elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.policies.gaussian_process import GaussianProcess
from showdown.policies.sparse_gaussian_process import SparseGaussianProcess, SparseState
from showdown.posteriors import float64, gaussian_process, inverse_factor, multitask_kernel
from showdown.posteriors import sparse_gaussian_process as sparse
from showdown.posteriors.gaussian_process import Points
from showdown.posteriors.multitask_kernel import Hyperparameters
from showdown.posteriors.regression import Regressions
from showdown.posteriors.sparse_gaussian_process import Natural
from showdown.protocol.keys import named_key
from showdown.protocol.policy import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

DIM, ACTIONS, TASK_DIM, COUNT, FEW = 3, 4, 2, 20, 6
SPEC = ProblemSpec(DIM, ACTIONS)


class Rows(NamedTuple):
    contexts: jax.Array  # (rows, DIM)
    actions: jax.Array  # (rows,)
    targets: jax.Array  # (rows,)


def rows(count: int = COUNT) -> Rows:
    generator = np.random.default_rng(0)
    contexts = generator.normal(size=(count, DIM)).astype(np.float32)
    actions = generator.integers(ACTIONS, size=count).astype(np.int32)
    targets = np.sin(contexts[:, 0] + actions) + 0.1 * generator.normal(size=count)
    return Rows(*map(jnp.asarray, (contexts, actions, targets.astype(np.float32))))


def hyperparameters() -> Hyperparameters:
    generator = np.random.default_rng(1)
    shapes = ((), (), (DIM,), (DIM,), (), (ACTIONS, TASK_DIM), (ACTIONS,))
    return Hyperparameters(*(jnp.asarray(0.5 * generator.normal(size=shape)) for shape in shapes))


def first(data: Rows, number: int, spare: int = 0) -> Points:
    """The first rows as inducing points, with `spare` empty ones after them."""
    contexts = jnp.concatenate([data.contexts[:number], jnp.full((spare, DIM), 7.0, data.contexts.dtype)])
    return Points(contexts, jnp.append(data.actions[:number], jnp.ones(spare, jnp.int32)), jnp.int32(number))


@jax.jit
def best_of(values: Hyperparameters, inducing: Points, data: Rows) -> tuple[jax.Array, Natural]:
    factor, _ = sparse.factor_of(values, inducing, "sum")
    designs = sparse.features(values, inducing, factor, data.contexts, data.actions, "sum")
    noise = multitask_kernel.noise_variance(values)
    return designs, sparse.best(Natural(designs.T @ designs / noise, data.targets @ designs / noise))


def bound(values: Hyperparameters, designs: jax.Array, data: Rows, q: Regressions) -> jax.Array:
    count = jnp.asarray(len(data.targets), jnp.float64)
    return sparse.batch_bound(values, designs, data.contexts, data.targets, q, count, "sum") - sparse.divergence(q)


@jax.jit
def best_bound(values: Hyperparameters, inducing: Points, data: Rows) -> jax.Array:
    designs, natural = best_of(values, inducing, data)
    return bound(values, designs, data, belief(natural)[0])


belief = jax.jit(sparse.belief)


@jax.jit
def evidence(values: Hyperparameters, data: Rows) -> jax.Array:
    points = Points(data.contexts, data.actions, jnp.int32(len(data.targets)))
    return gaussian_process.log_marginal_likelihood(values, points, data.targets, "sum")


def test_the_bound_is_the_evidence_when_inducing_points_are_the_data():
    with float64.enabled():
        values, data = hyperparameters(), float64.raised(rows())
        exact = float(evidence(values, data))
        assert abs(float(best_bound(values, first(data, COUNT), data)) - exact) < 1e-6
        assert abs(float(best_bound(values, first(data, COUNT, spare=3), data)) - exact) < 1e-6


def test_the_bound_is_below_the_evidence_and_grows_with_inducing_points():
    with float64.enabled():
        values, data = hyperparameters(), float64.raised(rows())
        bounds = [float(best_bound(values, first(data, number), data)) for number in (0, FEW, 2 * FEW)]
        exact = float(evidence(values, data))
    assert bounds[0] < bounds[1] < bounds[2] < exact


def test_no_other_belief_has_a_higher_bound():
    with float64.enabled():
        values, data = hyperparameters(), float64.raised(rows())
        inducing = first(data, FEW)
        designs, natural = best_of(values, inducing, data)
        q, _ = belief(natural)
        score = jax.jit(lambda q: bound(values, designs, data, q))
        best = float(score(q))
        for number in range(5):
            one, two = jax.random.split(named_key(number, "elsewhere"))
            moved = Regressions(
                q.mean + 0.1 * jax.random.normal(one, q.mean.shape),
                q.root * (1 + 0.1 * jax.random.normal(two, q.root.shape)),
            )
            assert float(score(moved)) < best


def test_a_bound_of_batches_is_that_of_all_rows_on_average():
    with float64.enabled():
        values, data = hyperparameters(), float64.raised(rows())
        designs, natural = best_of(values, first(data, FEW), data)
        q, _ = belief(natural)
        count = jnp.asarray(COUNT, jnp.float64)

        def part(start: int) -> float:
            chosen = slice(start, start + COUNT // 4)
            return float(
                sparse.batch_bound(
                    values, designs[chosen], data.contexts[chosen], data.targets[chosen], q, count, "sum"
                )
            )

        whole = float(sparse.batch_bound(values, designs, data.contexts, data.targets, q, count, "sum"))
        parts = [part(start) for start in range(0, COUNT, COUNT // 4)]
    assert abs(np.mean(parts) - whole) < 1e-9
    assert np.std(parts) > 0.1


@pytest.mark.parametrize("combination", ["sum", "product"])
def test_the_gradient_of_the_bound(combination):
    """In hyper-parameters and inducing contexts, along random directions, against central differences."""
    with float64.enabled():
        data = float64.raised(rows())
        inducing = first(data, FEW)
        q = Regressions(*(jnp.ones(shape) * 0.3 for shape in ((1, FEW), (1, FEW, FEW))))

        @jax.jit
        def value(values, contexts):
            moved = inducing._replace(contexts=contexts)
            factor, _ = sparse.factor_of(values, moved, combination)
            designs = sparse.features(values, moved, factor, data.contexts, data.actions, combination)
            count = jnp.asarray(COUNT, jnp.float64)
            return sparse.batch_bound(values, designs, data.contexts, data.targets, q, count, combination)

        here = (hyperparameters(), inducing.contexts + 0.1)
        gradient = jax.jit(jax.grad(value, argnums=(0, 1)))(*here)
        for seed in range(3):
            generator = np.random.default_rng(seed)
            way = jax.tree.map(lambda leaf, source=generator: jnp.asarray(source.normal(size=leaf.shape)), here)
            ends = [
                float(value(*jax.tree.map(lambda leaf, by, sign=sign: leaf + sign * 1e-5 * by, here, way)))
                for sign in (1, -1)
            ]
            along = sum(float(jnp.sum(a * b)) for a, b in zip(*map(jax.tree.leaves, (gradient, way)), strict=True))
            assert abs(along - (ends[0] - ends[1]) / 2e-5) < 1e-5 * (1 + abs(along))


def test_prediction_is_the_exact_one_when_inducing_points_are_the_data():
    with float64.enabled():
        values, data = hyperparameters(), float64.raised(rows())
        points = first(data, COUNT)
        context = jnp.asarray([0.3, -0.8, 1.1])
        q, _ = belief(best_of(values, points, data)[1])

        @jax.jit
        def both(values, points, targets, q, context):
            factor, _ = inverse_factor.factorise(gaussian_process.of_observations(values, points, "sum"))
            inducing_factor, _ = sparse.factor_of(values, points, "sum")
            return (
                sparse.predict(values, points, inducing_factor, q, context, "sum"),
                gaussian_process.predict(values, points, targets, factor, context, "sum"),
            )

        found, wanted = jax.tree.map(np.asarray, both(values, points, data.targets, q, context))
    for ours, exact in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, exact, atol=1e-6)


@jax.jit
def observe(policy: Any, state: Any, data: Rows) -> Any:
    def step(state, row):
        context, action, reward = row
        situation = Situation(context, jnp.int32(0), SPEC)
        return policy.update(jax.random.key(0), state, situation, action, reward), None

    return jax.lax.scan(step, state, data)[0]


@jax.jit
def refit(policy: Any, state: Any, data: Rows, count: jax.Array) -> Any:
    """To the first rows, compiled as the loop does it, for two trials."""
    history = History(SPEC, count, data.actions, data.targets, lambda rows: data.contexts[rows])
    twice = jax.tree.map(lambda leaf: jnp.stack([leaf] * 2), state)
    after = jax.vmap(lambda state: policy.refit(jax.random.key(1), state, history))(twice)
    return jax.tree.map(lambda leaf: leaf[0], after)


def test_the_policy_is_the_exact_one_until_its_inducing_points_are_used_up():
    """Same hyper-parameters, same data, same key: the same draws. With one inducing point less they differ."""
    data, situation = rows(), Situation(jnp.full(DIM, 0.5), jnp.int32(0), SPEC)
    draws = []
    for policy in (
        GaussianProcess(max_points=COUNT + 2, task_dim=TASK_DIM),
        SparseGaussianProcess(num_inducing=COUNT + 2, task_dim=TASK_DIM),
        SparseGaussianProcess(num_inducing=COUNT - 1, task_dim=TASK_DIM),
    ):
        state = observe(policy, policy.init(named_key(0, "init"), SPEC), data)
        draws.append(np.asarray(jax.jit(policy.scores)(jax.random.key(3), state, situation)))
    np.testing.assert_allclose(draws[1], draws[0], atol=1e-5)
    assert np.abs(draws[2] - draws[0]).max() > 1e-3


POLICY = SparseGaussianProcess(num_inducing=FEW, task_dim=TASK_DIM, training_steps=40, batch_size=16)


@pytest.fixture(scope="module")
def refitted() -> tuple[SparseState, SparseState, Rows]:
    """The state before and after a refit on all rows but the last four."""
    data = rows()
    return *seen_and_refitted(data), data


def seen_and_refitted(data: Rows) -> tuple[SparseState, SparseState]:
    state = POLICY.init(named_key(0, "init"), SPEC)
    before = observe(POLICY, state, Rows(*(array[: COUNT - 4] for array in data)))
    return before, refit(POLICY, before, data, jnp.int32(COUNT - 4))


def exact_belief(state: SparseState, data: Rows) -> Regressions:
    """The best belief under the state's hyper-parameters and inducing points; call it under float64."""
    values, contexts = float64.raised(state.fit.parameters)
    targets = POLICY.targets(values, state.scale, data.actions, data.targets)
    scaled = Rows(data.contexts.astype(jnp.float64), data.actions, targets)
    return belief(best_of(values, Points(contexts, state.actions, state.number), scaled)[1])[0]


def test_a_refit_and_the_updates_after_it_keep_the_best_belief(refitted):
    _, state, data = refitted
    later = observe(POLICY, state, Rows(*(array[-4:] for array in data)))
    for held, seen in ((state, COUNT - 4), (later, COUNT)):
        with float64.enabled():
            wanted = exact_belief(held, Rows(*(array[:seen] for array in data)))
            mean, root = map(float64.join, held.belief)
            covariances = [np.asarray(each[0].T @ each[0]) for each in (root, wanted.root)]
            means = [np.asarray(each) for each in (mean, wanted.mean)]
        np.testing.assert_allclose(*means, atol=1e-8)
        np.testing.assert_allclose(*covariances, atol=1e-8)


def test_training_raises_the_bound_and_moves_the_inducing_points(refitted):
    before, after, data = refitted
    seen = Rows(*(array[: COUNT - 4] for array in data))
    heights = []
    for state in (before, after):
        with float64.enabled():
            values, contexts = float64.raised(state.fit.parameters)
            targets = POLICY.targets(values, after.scale, seen.actions, seen.targets)
            scaled = Rows(seen.contexts.astype(jnp.float64), seen.actions, targets)
            height = best_bound(values, Points(contexts, state.actions, state.number), scaled)
            heights.append(float(height + multitask_kernel.log_prior(values)))
    assert heights[1] > heights[0] + 1
    assert (before.fit.parameters.contexts != after.fit.parameters.contexts).all()


def test_inducing_points_stay_on_the_data_and_problems_out_of_float64():
    """Points stay until all are used; a problem asked for contexts in float64 would draw other random numbers."""
    policy = SparseGaussianProcess(num_inducing=COUNT + 2, task_dim=TASK_DIM, training_steps=3, batch_size=8)
    data = rows()
    state = observe(policy, policy.init(named_key(0, "init"), SPEC), data)

    def contexts_at(steps: jax.Array) -> jax.Array:
        assert not jax.config.jax_enable_x64
        return data.contexts[steps]

    history = History(SPEC, jnp.int32(COUNT), data.actions, data.targets, contexts_at)
    state = jax.jit(lambda state: policy.refit(jax.random.key(1), state, history))(state)
    np.testing.assert_array_equal(state.fit.parameters.contexts[:COUNT], data.contexts)
    assert state.number == COUNT


def test_duplicated_contexts_and_constant_rewards_keep_working():
    _, state = seen_and_refitted(Rows(jnp.ones((COUNT, DIM)), jnp.zeros(COUNT, jnp.int32), jnp.ones(COUNT)))
    for leaf in jax.tree.leaves(state):
        assert jnp.isfinite(leaf).all()
    values = jax.jit(POLICY.scores)(jax.random.key(2), state, Situation(jnp.ones(DIM), jnp.int32(0), SPEC))
    assert abs(values[0] - 1) < 0.1  # what action 0 always paid
    assert jnp.isfinite(values).all()
