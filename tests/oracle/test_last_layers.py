"""Families since 2018, each against its definition: gradients, evidence, a bound's stationary point, counts."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from showdown.beliefs.evidence import EvidenceLinear
from showdown.beliefs.network_features import he_network
from showdown.policies import policies
from showdown.policies.local_uncertainty import LocalUncertainty
from showdown.posteriors import network, tangent_kernel
from showdown.posteriors import variational_last_layer as vbll
from showdown.posteriors.moments import Moments
from showdown.protocol.situation import Batch, Situation
from showdown.testing import play, scripted
from showdown.testing.policy_promises import SPEC, random_script

ROWS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_the_tangent_kernel_is_that_of_gradients(layer_norm):
    layers = network.layer_sizes(3, (8, 6), 2)
    parameters = he_network(jax.random.key(1), layers, layer_norm)
    gradients = jax.vmap(jax.jacrev(lambda below, row: network.predict((*below, parameters[-1]), row)), (None, 0))(
        parameters[:-1], ROWS
    )
    flat = np.concatenate([np.asarray(leaf).reshape(5, 2, -1) for leaf in jax.tree.leaves(gradients)], axis=-1)
    expected = np.einsum("nap,map->anm", flat, flat)
    kernel = tangent_kernel.hidden_kernel(parameters, jnp.asarray(ROWS))
    assert np.asarray(kernel) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_with_few_rows_the_last_layer_has_the_kernel_of_the_whole_network():
    generator = np.random.default_rng(2)
    features, root = generator.normal(size=(4, 9)), generator.normal(size=(2, 4, 7))
    kernel = np.einsum("anp,amp->anm", root, root)
    prior = tangent_kernel.last_layer_prior(jnp.float32(kernel), jnp.float32(features), 1.0, 1e-6)
    implied = np.einsum("ni,aij,mj->anm", features, np.linalg.inv(np.asarray(prior, float)), features)
    assert implied == pytest.approx(features @ features.T + kernel, rel=2e-3, abs=2e-2)


def test_rich_without_the_layers_below_is_neural_linear():
    problem = scripted(*random_script())
    plain = policies.get("NeuralLinear").small()
    rich = policies.get("Rich-BLL[strength=0,noise=belief]").small()
    assert (play(rich, problem).actions == play(plain, problem).actions).all()
    state = play(rich, problem).players.state
    same = play(plain, problem).players.state.belief.regressions
    assert np.asarray(state.belief.regressions.mean) == pytest.approx(np.asarray(same.mean), abs=1e-5)


def test_the_layers_below_only_add_to_the_spread():
    rich = policies.get("Rich-BLL[noise=belief]").small().inner
    below = replace(rich, strength=0.0)
    fit = rich.features.init(jax.random.key(0), SPEC)
    wide, narrow = (np.linalg.inv(np.asarray(each.prior(fit, jnp.asarray(ROWS)), float)) for each in (rich, below))
    designs = np.asarray(rich.features.design(fit, jnp.asarray(ROWS)))
    gain = np.einsum("ni,aij,nj->an", designs, wide - narrow, designs)
    assert (gain >= -1e-4).all()
    assert (gain > 1e-2).any()


def test_evidence_is_greatest_where_the_fixed_point_ends():
    generator = np.random.default_rng(3)
    designs, actions = generator.normal(size=(60, 4)), np.arange(60) % 2
    rewards = 300 * (designs @ [1.0, -0.5, 0, 0.2] + 0.7 * generator.normal(size=60))
    member = np.eye(2)[actions]
    moments = Moments(
        *(
            jnp.float32(each)
            for each in (
                np.einsum("nk,ni,nj->kij", member, designs, designs),
                np.einsum("nk,ni,n->ki", member, designs, rewards),
                member.T @ rewards**2,
                member.sum(axis=0),
            )
        )
    )

    def log_evidence(which, ratio, variance):
        return sum(
            multivariate_normal(
                cov=variance * (np.eye(30) + designs[actions == k] @ designs[actions == k].T / ratio)
            ).logpdf(rewards[actions == k])
            for k in which
        )

    for pooled, which in ((True, (0, 1)), (False, (1,))):
        belief = EvidenceLinear(pooled=pooled, rounds=40)
        state = belief.rebuild(belief.init(2, 4), moments)
        ratio, variance = float(state.ratio[1]), float(state.variance[1])
        best = log_evidence(which, ratio, variance)
        for other in (0.8, 1.25):
            assert log_evidence(which, other * ratio, variance) < best
            assert log_evidence(which, ratio, other * variance) < best
        near = log_evidence(which, 1.02 * ratio, 1.02 * variance)
        assert best == pytest.approx(near, abs=0.05)


def test_the_bound_of_vbll_is_the_evidence_at_the_exact_posterior():
    """There its gradient is zero too: no step of training would leave it."""
    generator = np.random.default_rng(4)
    designs, rewards, variance = generator.normal(size=(30, 4)), generator.normal(size=30), 0.5
    covariance = np.linalg.inv(np.eye(4) / 2.0 + designs.T @ designs / variance)
    root = np.linalg.cholesky(covariance)
    head = vbll.Head(
        *(
            jnp.float32(each)[None]
            for each in (
                covariance @ designs.T @ rewards / variance,
                np.log(np.diag(root)),
                np.tril(root, -1),
                np.log(variance) / 2,
            )
        )
    )

    def bound(mean, diagonal, lower):
        changed = vbll.Head(mean, diagonal, lower, head.log_noise)
        fits = vbll.fits(changed, jnp.float32(designs), jnp.float32(rewards))
        return fits.sum() - vbll.divergence(changed, 2.0)

    evidence = multivariate_normal(cov=variance * np.eye(30) + 2.0 * designs @ designs.T).logpdf(rewards)
    value, gradient = jax.value_and_grad(bound, argnums=(0, 1, 2))(*head[:3])
    assert float(value) == pytest.approx(evidence, abs=1e-3)
    assert max(float(jnp.abs(each).max()) for each in gradient) < 2e-4 * len(rewards)


@pytest.mark.parametrize(("reward", "rises"), [(0.0, False), (1.0, True)])
def test_the_noise_of_vbll_leaves_its_floor_only_upwards(reward, rises):
    def loss(log_noise):
        head = vbll.start(1, 2, 1e-3)._replace(log_noise=log_noise)
        return -vbll.fits(head, jnp.ones((3, 2)), jnp.full(3, reward)).mean()

    slope = float(jax.grad(loss)(jnp.array([-6.0]))[0])
    assert slope < 0 if rises else slope == 0


def test_sau_counts_how_wrong_predictions_were():
    policy = policies.get("SAU").small().inner
    state = policy.init(jax.random.key(0), SPEC)
    errors, rewards = {0: [], 1: [], 2: []}, []
    for step, row in enumerate(ROWS):
        situation, action, reward = Situation(jnp.asarray(row), jnp.int32(step), SPEC), step % 2, 2.0 * step
        predicted = policy.values(state, situation).mean
        errors[action].append((reward - float(predicted[action])) ** 2)
        rewards.append(reward**2)
        state = policy.update(jax.random.key(1), state, situation, jnp.int32(action), jnp.float32(reward))
    values = policy.values(state, situation)
    expected = [np.sqrt(np.mean(rewards) + sum(errors[a])) / max(len(errors[a]), 1) for a in range(3)]
    assert np.asarray(values.spread) == pytest.approx(expected, rel=1e-5)


def test_the_bound_of_local_uncertainty_is_that_of_a_linear_model():
    """Linear networks: the expected fit has a closed form, and one draw per row averages to it."""
    policy = LocalUncertainty(hidden_layers=(), latent=2)
    model = policy.init(jax.random.key(0), SPEC).fit.parameters
    batch = Batch(jnp.asarray(ROWS), jnp.array([0, 1, 2, 0, 1]), jnp.arange(5.0))
    draws = jax.jit(jax.vmap(lambda key: policy.bound(key, model, batch, jnp.float32(2.0), jnp.float32(0.5))))
    drawn = np.asarray(draws(jax.random.split(jax.random.key(1), 4000)))
    mean, log_variance = (np.asarray(each, float) for each in policy.encode(model, batch.contexts))
    weights = np.asarray(model.decoder[0].weights, float)[:, batch.actions].T  # (rows, latent + context)
    error = np.asarray(batch.rewards) / 2 - np.sum(weights * np.concatenate([mean, ROWS], axis=1), axis=1)
    noise = np.sum(weights[:, :2] ** 2 * np.exp(log_variance), axis=1)
    fit = -0.5 * (error**2 + noise) / 0.5**2 - np.log(0.5)
    doubt = 0.5 * np.sum(mean**2 + np.exp(log_variance) - 1 - log_variance, axis=1)
    error_of_mean = drawn.std() / np.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(np.mean(3 * fit - 0.5 * doubt), abs=4 * error_of_mean)


@pytest.mark.parametrize(
    "name", ["Evidence-Linear", "Evidence-Net", "Rich-BLL-Net", "VBLL-Net", "SAU-Net", "LU-Gauss-Scaled"]
)
def test_the_unit_of_rewards_changes_no_action(name):
    contexts, rewards = random_script()
    policy = policies.get(name).small()
    one, other = (play(policy, scripted(contexts, unit * rewards)).actions for unit in (1.0, 1024.0))
    assert (one == other).all()
