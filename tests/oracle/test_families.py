"""Families published since 2018 against what they claim: closed forms in linear models, and gradients by JAX."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from showdown.beliefs.network_features import Drawn
from showdown.policies import policies
from showdown.policies.ensemble_plus import Ensemble
from showdown.policies.ensemble_plus_network import EnsembleNetwork, seen_by_priors
from showdown.policies.indexed_network import IndexedNetwork, Parameters
from showdown.policies.langevin import Langevin, capped, walk
from showdown.policies.low_rank_filter import LowRankFilter
from showdown.policies.neural_tangent import NeuralTangent, signals, squares, weighted_squares
from showdown.policies.perturbed_rewards import PerturbedRewards
from showdown.policies.shared.network_policy import PLAIN, row_normals
from showdown.posteriors import network
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch, Situation
from showdown.testing import play, scripted
from showdown.testing.policy_promises import random_script
from showdown.tricks.threefry import key_of

SPEC = ProblemSpec(3, 2)
LINEAR = replace(PLAIN, hidden_layers=())
PAST = History(SPEC, jnp.int32(0), jnp.zeros(1, jnp.int32), jnp.zeros(1), lambda rows: jnp.zeros((1, 3)))
NETWORKS = ["Ensemble+", "NeuralTS", "NeuralUCB", "HiLoFi", "LRKF", "Ensemble++", "Epinet", "NPR", "EVILL", "LMC-TS"]


@pytest.mark.parametrize("name", [f"{name}-Net" for name in NETWORKS] + ["NeuralTS-Joint"])
def test_the_unit_of_rewards_changes_no_action(name):
    """A power of two, so that nothing is rounded otherwise."""
    policy, (contexts, rewards) = policies.get(name).small(), random_script()
    one, other = (play(policy, scripted(contexts, unit * rewards)).actions for unit in (1.0, 1024.0))
    np.testing.assert_array_equal(one, other)


def test_ensemble_without_priors_and_noise_is_the_bootstrap():
    problem = scripted(*random_script())
    plain, ensemble = (
        policies.get(name).small() for name in ("BootstrappedNN", "Ensemble+[prior_scale=0,target_noise=0]")
    )
    np.testing.assert_array_equal(play(plain, problem).actions, play(ensemble, problem).actions)


def test_members_learn_their_own_noise_and_cancel_their_priors(history):
    """With fewer rows than weights a member ends at r + σ·s·w, whatever its prior function; and a row that has moved
    forward in a history that begins later keeps its noise."""
    policy = Ensemble(
        hidden_layers=(), num_networks=3, batch_size=8, training_steps=4000, learning_rate=0.1,
        learning_rate_decay=0.02, prior_scale=2.0, target_noise=0.5,
    )  # fmt: skip
    contexts, rewards = np.eye(3) + 0.2, np.array([1.0, -2.0, 0.5])
    past = replace(history(SPEC, contexts, np.zeros(3), rewards), first=jnp.int32(5))
    start = policy.init(jax.random.key(0), SPEC)
    state = jax.jit(lambda: policy.refit(jax.random.key(1), start, past))()
    keys = [jax.random.fold_in(role_key(key_of(start.ensemble.member_key), "targets"), each) for each in range(3)]
    noise = np.stack([row_normals(key, 5 + jnp.arange(3), 1)[:, 0] for key in keys])
    assert float(state.residual) > 0.1
    found = jax.vmap(lambda row: policy.values(state, Situation(row, jnp.int32(9), SPEC))[:, 0])(jnp.float32(contexts))
    np.testing.assert_allclose(found.T, rewards + 0.5 * float(state.residual) * noise, atol=0.03)
    for each in (state.priors.of(jnp.float32(contexts)), noise):
        assert np.std(each) > 0.5  # it could have failed


def test_members_of_the_common_network_learn_the_same():
    """Linear members, all rows in one batch: the loss is least at least squares of r + σ·s·w − β·p."""
    policy = EnsembleNetwork(features=LINEAR, num_networks=2, prior_scale=2.0, target_noise=0.5)
    state, data = policy.init(jax.random.key(0), SPEC)._replace(residual=jnp.float32(0.6)), drawn(30)
    priors = state.priors.of(data.inputs)[:, :, 0]
    members = jax.random.split(key_of(state.noise_key), 2)
    noise = np.stack([row_normals(key, data.rows, 1)[:, 0] for key in members])
    solved = np.linalg.lstsq(data.inputs, (data.batch.rewards + 0.3 * noise - 2 * priors).T, rcond=None)[0].T
    (layer,) = state.network.averaged
    best = (layer._replace(weights=layer.weights.at[:, :, 0].set(solved), bias=jnp.zeros_like(layer.bias)),)
    gradient = jax.grad(lambda each: policy.loss(jax.random.key(1), state, each, data, PAST))(best)
    assert max(np.abs(leaf).max() for leaf in jax.tree.leaves(gradient)) < 1e-5


def test_prior_functions_stand_still_while_the_scale_of_contexts_settles(history):
    policy = EnsembleNetwork(features=replace(LINEAR, refit_every=60), num_networks=2)
    contexts = np.random.default_rng(4).normal(size=(240, 3)) * np.where(np.arange(240) < 120, 1.0, 5.0)[:, None]

    @jax.jit
    def refitted(state, count):
        return policy.refit(jax.random.key(1), state, replace(past, count=count))

    def priors(state):
        return state.priors.of(seen_by_priors(state, policy.inputs(state.network, jnp.array([1.0, -0.5, 0.3]))))

    past = history(SPEC, contexts, np.zeros(240), np.ones(240))
    first = refitted(policy.init(jax.random.key(0), SPEC), jnp.int32(120))
    second = refitted(first, jnp.int32(240))
    assert second.network.contexts.used > 2 * first.network.contexts.used
    np.testing.assert_allclose(priors(second), priors(first), rtol=1e-5)


def test_noise_belongs_to_rows_and_trainings_wherever_a_history_begins():
    """A row that has moved forward in a history that begins later keeps its noise; a training of it has its own."""
    data, later = drawn(8), replace(PAST, first=jnp.int32(3))
    moved = data._replace(rows=data.rows - 3)
    for policy in (EnsembleNetwork(features=LINEAR), IndexedNetwork(features=replace(PLAIN, hidden_layers=(4,)))):
        state = policy.init(jax.random.key(0), SPEC)
        learned = state.network.averaged
        one, other = (policy.loss(jax.random.key(1), state, learned, *each) for each in ((data, PAST), (moved, later)))
        assert one == other
    perturbed = PerturbedRewards(features=LINEAR)
    state = perturbed.init(jax.random.key(0), SPEC)
    one, other = (
        perturbed.loss(jax.random.key(1), state, state.network.averaged, data, each) for each in (PAST, later)
    )
    assert one != other


@pytest.mark.parametrize("layer_norm", [False, True])
def test_tangent_sums_are_those_of_gradients(layer_norm):
    parameters = network.init(jax.random.key(0), [(4, 6), (6, 5), (5, 3)], 0.7, layer_norm)
    inputs = jax.random.normal(jax.random.key(1), (4,))
    counts = jax.tree.map(lambda leaf: 0.5 + jnp.abs(jnp.sin(leaf)), parameters)
    gradients = jax.jacrev(lambda each: network.predict(each, inputs))(parameters)
    outputs, found = signals(parameters, inputs)
    np.testing.assert_allclose(outputs, network.predict(parameters, inputs), rtol=1e-6)
    expected = sum(
        np.sum(np.asarray(leaf) ** 2 / np.asarray(count), axis=tuple(range(1, leaf.ndim)))
        for leaf, count in zip(jax.tree.leaves(gradients), jax.tree.leaves(counts), strict=True)
    )
    np.testing.assert_allclose(weighted_squares(found, counts), expected, rtol=1e-5)
    for one, leaf in zip(jax.tree.leaves(squares(found, jnp.int32(2))), jax.tree.leaves(gradients), strict=True):
        np.testing.assert_allclose(one, leaf[2] ** 2, rtol=1e-4, atol=1e-7)


def test_tangent_of_a_linear_model_is_diagonal_regression(history):
    """U counts squared contexts along the steps played, and again when it is summed from history."""
    policy = NeuralTangent(features=LINEAR, prior_precision=0.3, exploration=0.7)
    generator = np.random.default_rng(1)
    contexts = np.sign(generator.normal(size=(9, 3)))  # of length one per feature, so that their scale is one
    actions = generator.integers(2, size=9)
    state = policy.init(jax.random.key(0), SPEC)
    state = state._replace(
        network=state.network._replace(contexts=state.network.contexts._replace(seen=jnp.float32(9)))
    )
    for step, (context, action) in enumerate(zip(contexts, actions, strict=True)):
        situation = Situation(jnp.asarray(context, jnp.float32), jnp.int32(step), SPEC)
        state = policy.update(jax.random.key(0), state, situation, jnp.int32(action), jnp.float32(0))
    pulls = np.bincount(actions, minlength=2)
    expected = 0.3 * 0.7 * 5 / (0.3 + pulls)  # three features, the constant and the bias, all of square one
    values = policy.values(state, situation)
    np.testing.assert_allclose(values.spread, np.sqrt(expected), rtol=1e-5)
    recounted = policy.recounted(state, history(SPEC, contexts, actions, np.zeros(9)))
    for one, other in zip(jax.tree.leaves(recounted), jax.tree.leaves(state.counts), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_joint_draws_share_one_draw_of_weights():
    """Their covariance is that of gradients: 20,000 draws."""
    policy = NeuralTangent(features=replace(PLAIN, hidden_layers=(5,)), exploration=0.5, draws="joint")
    state, context = policy.init(jax.random.key(0), SPEC), jnp.array([1.0, -0.5, 0.3])
    situation, inputs = Situation(context, jnp.int32(9), SPEC), policy.inputs(state.network, context)
    gradients = jax.jacrev(lambda flat: network.predict(unravel(flat), inputs))
    flat, unravel = ravel_pytree(state.network.averaged)
    slopes = np.asarray(gradients(flat))
    draws = jax.vmap(lambda key: policy.scores(key, state, situation))(jax.random.split(jax.random.key(1), 20_000))
    covariance = 0.5 * slopes @ slopes.T
    np.testing.assert_allclose(np.cov(np.asarray(draws).T), covariance, atol=0.05 * covariance.max())


def filtered(policy, rows=40):
    """The states before each step and the situations, actions and rewards of a filter whose units stay one."""
    generator = np.random.default_rng(2)
    state, steps = policy.init(jax.random.key(0), SPEC), []
    update = jax.jit(policy.update)
    for step in range(rows):
        situation = Situation(jnp.asarray(np.sign(generator.normal(size=3)), jnp.float32), jnp.int32(step), SPEC)
        action, reward = jnp.int32(generator.integers(2)), jnp.float32(generator.choice([-1, 1]))
        steps.append((state, situation, action, reward))
        state = update(jax.random.key(1), state, situation, action, reward)
    return state, steps


@pytest.mark.parametrize(("last_layer", "hidden"), [("low-rank", ()), ("low-rank", (3,)), ("full", (3,))])
def test_a_filter_of_full_rank_is_the_kalman_filter(last_layer, hidden):
    """Against the dense filter, linearised at the same weights; the last layer of HiLoFi is a block of its own."""
    noise = 0.2
    policy = LowRankFilter(
        hidden_layers=hidden, layer_norm=False, last_layer=last_layer, rank=40, variance=0.3, last_variance=0.5,
        drift=0.0, noise_floor=noise, noise_share=0.0,
    )  # fmt: skip
    final, steps = filtered(policy)
    size = final.weights.size
    covariance = 0.3 * np.eye(size)
    heads = [0.5 * np.eye(4) for _ in range(2)]
    for (state, situation, action, reward), after in zip(steps, [each[0] for each in steps[1:]] + [final], strict=True):
        inputs = jnp.append(situation.context, 1.0)
        slopes = jax.jacrev(policy.outputs(state, inputs, SPEC))(state.weights)[action]
        slope, error = (
            np.asarray(slopes, float),
            float(reward - policy.outputs(state, inputs, SPEC)(state.weights)[action]),
        )
        total = noise + slope @ covariance @ slope
        if last_layer == "full":
            design = np.asarray(policy.design(state, inputs, SPEC), float)
            total += design @ heads[action] @ design
            change = heads[action] @ design / total
            heads[action] -= total * np.outer(change, change)
            moved = np.asarray(after.heads.mean - state.heads.mean)[action]
            np.testing.assert_allclose(moved, change * error, atol=1e-4)
        gain = covariance @ slope / total
        np.testing.assert_allclose(after.weights - state.weights, gain * error, atol=1e-4)
        covariance -= total * np.outer(gain, gain)
    np.testing.assert_allclose(final.factor.T @ final.factor, covariance, atol=2e-4)
    if last_layer == "full":
        for root, block in zip(final.heads.root, heads, strict=True):
            np.testing.assert_allclose(root.T @ root, block, atol=2e-4)


def test_a_filter_that_earns_nothing_keeps_its_doubt():
    """Linear and of full rank, so that actions share nothing but the unit and the noise: 60 rewards of 0 of one action
    change nothing in what is believed of the other."""
    policy = LowRankFilter(hidden_layers=(), layer_norm=False, last_layer="low-rank", rank=40, drift=0.0)
    state, update = policy.init(jax.random.key(0), SPEC), jax.jit(policy.update)
    situation = Situation(jnp.array([1.0, -1.0, 1.0]), jnp.int32(0), SPEC)
    found = []
    for step in range(64):
        situation = replace(situation, step=jnp.int32(step))
        paid = (jnp.int32(1), jnp.float32(4 + step)) if step < 4 else (jnp.int32(0), jnp.float32(0))
        state = update(jax.random.key(1), state, situation, *paid)
        if step in (3, 63):
            values = policy.values(state, situation)
            found.append([values.mean[1], values.spread[1], values.noise[1]])
    np.testing.assert_allclose(*found, rtol=1e-3)


def test_truncation_keeps_the_largest_directions_and_no_more():
    policy = LowRankFilter(rank=4, drift=0.0)
    factor = jax.random.normal(jax.random.key(0), (12, 30))
    cut = policy.truncated(factor)
    lost = np.asarray(factor.T @ factor - cut.T @ cut)
    assert np.linalg.eigvalsh(lost).min() > -1e-3
    exact = np.linalg.svd(np.asarray(factor), compute_uv=False)[:4]
    np.testing.assert_allclose(np.linalg.svd(np.asarray(cut), compute_uv=False)[:4], exact, rtol=1e-4)
    assert cut.shape == factor.shape
    assert not cut[4:].any()


def drawn(rows: int) -> Drawn:
    generator = np.random.default_rng(3)
    contexts = jnp.asarray(generator.normal(size=(rows, 3)), jnp.float32)
    inputs = jnp.concatenate([contexts, jnp.ones((rows, 1))], axis=1)
    rewards = jnp.asarray(generator.normal(size=rows), jnp.float32)
    return Drawn(jnp.arange(rows), inputs, Batch(contexts, jnp.zeros(rows, jnp.int32), rewards))


def test_the_index_learns_the_posterior_of_its_own_noise():
    """The loss of Ensemble++ is least at h = φᵀ(ΦᵀΦ)⁻¹Φᵀcξ, its covariance c²(ΦᵀΦ)⁻¹/M by each index, and neither part
    moves the other."""
    policy = IndexedNetwork(features=replace(PLAIN, hidden_layers=(4,)), index_size=5, target_noise=0.3)
    state, data = policy.init(jax.random.key(0), SPEC), drawn(50)
    learned = state.network.averaged
    features = np.asarray(policy.last_layer(learned, data.inputs), float)
    own = np.asarray(row_normals(key_of(state.noise_key), data.rows, 5))
    own = 0.3 * own / np.linalg.norm(own, axis=1, keepdims=True)
    wanted = np.linalg.lstsq(features, own, rcond=None)[0]  # (width, index_size)
    best = learned.doubt.at[0].set(wanted - policy.prior_scale * state.prior[0])

    def loss(parameters: Parameters):
        return policy.loss(jax.random.key(1), state, parameters, data, PAST)

    at_best = jax.grad(loss)(Parameters(learned.network, best))
    assert np.abs(at_best.doubt[0]).max() < 1e-5
    elsewhere = jax.grad(loss)(learned)
    for one, other in zip(jax.tree.leaves(at_best.network), jax.tree.leaves(elsewhere.network), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    situation = Situation(jnp.array([1.0, 0.2, -0.4]), jnp.int32(0), SPEC)
    inputs = policy.inputs(state.network, situation.context)
    expected = network.predict(learned.network, inputs)
    np.testing.assert_allclose(policy.means(jax.random.key(0), state, situation), expected, rtol=1e-5)


@pytest.mark.parametrize("perturb", ["rewards", "loss"])
def test_perturbed_training_is_least_at_a_draw_of_the_posterior(perturb, history):
    """Linear model, all rows in one batch: least squares of rewards with noise; EVILL's noise has the other sign and a
    part for the prior."""
    policy = PerturbedRewards(features=LINEAR, perturb=perturb, scale=0.7, prior_precision=0.0)
    state, data = policy.init(jax.random.key(0), SPEC), drawn(30)
    state = state._replace(residual=jnp.float32(0.5))
    past = history(SPEC, np.zeros((30, 3)), np.zeros(30), np.zeros(30))
    noise = row_normals(jax.random.fold_in(key_of(state.noise_key), past.count), data.rows, 1)[:, 0]
    sign = 1 if perturb == "rewards" else -1
    targets = np.asarray(data.batch.rewards + sign * 0.35 * noise)
    solved = np.linalg.lstsq(np.asarray(data.inputs), targets, rcond=None)[0]
    (layer,) = state.network.averaged
    best = (layer._replace(weights=layer.weights.at[:, 0].set(solved), bias=jnp.zeros(2)),)
    gradient = jax.grad(lambda each: policy.loss(jax.random.key(1), state, each, data, past))(best)
    assert np.abs(gradient[0].weights).max() < 1e-5
    assert np.abs(gradient[0].bias).max() < 1e-5
    if perturb == "loss":  # 2·a·s·√λ·Z/N is all that the prior adds
        with_prior = replace(policy, prior_precision=4.0)
        more = jax.grad(lambda each: with_prior.loss(jax.random.key(1), state, each, data, past))(best)
        scaled = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(more)]) * 30 / (2 * 0.35 * 2)
        assert 0.3 < np.std(scaled) < 2  # ten standard normals


@pytest.mark.parametrize("step", [0.02, 0.05])
def test_langevin_walks_have_the_posterior_as_their_stationary_law(step):
    """20,000 chains on a quadratic of curvature 0.8 at temperature 0.3: variance 0.3 / 0.8 within 3 %, and a step from
    rest has the deviation √(2·step·temperature)."""
    keys = jax.random.split(jax.random.key(0), 400)

    def move(place, key):
        return walk(key, place, 0.8 * place, jnp.ones(()), step, 0.3), None

    start = jnp.zeros(20_000)
    assert float(move(start, keys[0])[0].std()) == pytest.approx(np.sqrt(2 * step * 0.3), rel=0.02)
    places, _ = jax.lax.scan(move, start, keys)
    assert float(places.var()) == pytest.approx(0.3 / 0.8, rel=0.03)


@pytest.mark.parametrize("cooling", [0.0, 1.0])
def test_a_training_of_langevin_has_the_heat_of_its_rows(cooling, history):
    """With steps so small that slopes do not matter, 20 of them move 402 weights by √(20·2·h·τ/N), over √N once more if
    it cools as in the released code."""
    spec, rows, rate = ProblemSpec(200, 2), 40, 1e-8
    features = replace(LINEAR, learning_rate=rate, refit_every=20)
    policy = Langevin(features=features, temperature=0.3, prior_precision=0.0, preconditioning=0.0, cooling=cooling)
    state = policy.init(jax.random.key(0), spec)
    past = history(spec, np.random.default_rng(4).normal(size=(rows, 200)), np.arange(rows) % 2, np.ones(rows))
    after = jax.jit(lambda: policy.retrained(jax.random.key(1), state, past))()
    start, end = (ravel_pytree(each.network.fit.parameters)[0] for each in (state, after))
    assert float((end - start).std()) == pytest.approx(np.sqrt(20 * 2 * rate * 0.3 / rows ** (1 + cooling)), rel=0.1)


def test_feel_good_pulls_below_the_cap_only():
    slope = jax.grad(lambda value: capped(value, 1.0))
    assert float(slope(0.2)) == pytest.approx(1, abs=1e-3)
    assert float(slope(2.0)) == pytest.approx(0, abs=1e-3)
    assert float(capped(jnp.float32(0.2), 1.0)) == pytest.approx(0.2, abs=1e-3)
