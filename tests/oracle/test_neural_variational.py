"""Variational networks: the mean-field solution in closed form, the α-energy term by term, and the law of decisions."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from showdown.policies.alpha_divergence import AlphaDivergence
from showdown.policies.bbb import BayesByBackprop
from showdown.policies.shared.variational import NetworkBelief
from showdown.posteriors import network, variational
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Batch
from showdown.protocol.problem import ProblemSpec

DIM, ACTIONS = 3, 2
SPEC = ProblemSpec(DIM, ACTIONS)


def linear_data(steps: int):
    generator = np.random.default_rng(0)
    contexts = generator.normal(size=(steps, DIM)) @ np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.5]])
    actions = generator.integers(ACTIONS, size=steps)
    coefficients = np.array([[1.0, -0.5, 0.3], [-1.0, 0.2, 0.8]])
    rewards = np.sum(contexts * coefficients[actions], axis=1) + actions + 0.5 * generator.normal(size=steps)
    return contexts, actions, rewards


def test_bbb_on_a_linear_model_finds_the_mean_field_solution(history):
    """Full-covariance mean (biases without prior), variances 1/(Σx²/σ² + 1/p²): what minimises the KL divergence."""
    noise, steps = 0.5, 60
    contexts, actions, rewards = linear_data(steps)
    past = history(SPEC, contexts, actions, rewards)
    policy = BayesByBackprop(
        hidden_layers=(), noise=noise, batch_size=256, training_steps=1500, initial_training_steps=1500, refit_every=20
    )
    refit = jax.jit(lambda policy, key, state: policy.refit(key, state, past))
    state = policy.init(jax.random.key(0), SPEC)
    for round_number, rate in enumerate((0.02, 0.004, 0.0008)):
        state = refit(replace(policy, learning_rate=rate), jax.random.key(round_number), state)
    (layer,) = state.parameters.layers
    prior_variance = 2 / DIM
    for action in range(ACTIONS):
        own = actions == action
        design = np.append(contexts[own], np.ones((own.sum(), 1)), axis=1)
        precision = design.T @ design / noise**2 + np.diag([1 / prior_variance] * DIM + [0.0])
        mean = np.linalg.solve(precision, design.T @ rewards[own] / noise**2)
        np.testing.assert_allclose(layer.mean[:, action], mean[:DIM], atol=0.01)
        assert float(layer.bias[action]) == pytest.approx(mean[DIM], abs=0.01)
        deviations = 1 / np.sqrt(np.diag(precision)[:DIM])
        np.testing.assert_allclose(np.exp(layer.log_deviation[:, action]), deviations, rtol=0.05)


def beliefs(hidden: tuple[int, ...]) -> NetworkBelief:
    """Means and deviations of ordinary size, so that every term of the energies matters."""
    layers = variational.init(jax.random.key(3), network.layer_sizes(DIM, hidden, ACTIONS), random_biases=True)
    return NetworkBelief(
        tuple(
            layer._replace(
                mean=10 * layer.mean,
                log_deviation=layer.log_deviation + 3.5,
                bias_log_deviation=layer.bias_log_deviation + 3.0,
            )
            for layer in layers
        ),
        None,
    )


def as_batch(count: int) -> Batch:
    contexts, actions, rewards = linear_data(count)
    return Batch(jnp.asarray(contexts, jnp.float32), jnp.asarray(actions), jnp.asarray(rewards, jnp.float32))


@pytest.mark.parametrize("scrambled", [False, True])
def test_alpha_energy_term_by_term(scrambled):
    """The textbook energy (and the released pairing of ln f) in float64, on the same draws."""
    policy = AlphaDivergence(
        hidden_layers=(4,), alpha=0.7, samples=3, prior_variance=0.4, noise=0.8, scrambled=scrambled
    )
    belief, batch, points, key = beliefs((4,)), as_batch(5), 40.0, jax.random.key(7)
    energy = float(jax.jit(policy.loss)(key, belief, batch, jnp.float32(points)))

    networks, _ = variational.draw_networks(role_key(key, "networks"), belief.layers, 3)
    flat = [np.asarray(leaf, np.float64).reshape(3, -1) for layer in networks for leaf in (layer.weights, layer.bias)]
    theta = np.concatenate(flat, axis=1)  # (samples, parameters)
    means = np.concatenate([np.asarray(part).ravel() for layer in belief.layers for part in (layer.mean, layer.bias)])
    logs = [part for layer in belief.layers for part in (layer.log_deviation, layer.bias_log_deviation)]
    variances = np.exp(2 * np.concatenate([np.asarray(part).ravel() for part in logs]).astype(np.float64))
    values = np.asarray(jax.vmap(network.predict, in_axes=(0, None))(networks, batch.contexts), np.float64)
    played = values[:, np.arange(5), np.asarray(batch.actions)]
    likelihood = stats.norm.logpdf(np.asarray(batch.rewards), played, 0.8)  # (samples, batch)
    site = np.sum(theta * means / variances + theta**2 / 2 * (1 / 0.4 - 1 / variances), axis=1) / points
    site = np.tile(site[:, None], (1, 5))
    if scrambled:
        site = np.array([[site[(i * 5 + j) % 3, 0] for j in range(5)] for i in range(3)])
    tilted = np.log(np.mean(np.exp(0.7 * (likelihood - site)), axis=0))
    log_z = np.sum(means**2 / (2 * variances) + np.log(2 * np.pi * variances) / 2)
    log_z_prior = len(means) / 2 * np.log(2 * np.pi * 0.4)
    expected = log_z_prior - log_z - points / (5 * 0.7) * tilted.sum()
    assert energy == pytest.approx(expected, rel=1e-4)


def test_alpha_to_zero_is_the_objective_of_bbb():
    """On one batch, averaged over draws: N times BBB's loss with the same prior. Five standard errors apart at most
    (false alarms under 1 in 100,000)."""
    belief, batch, points = beliefs(()), as_batch(6), jnp.float32(50.0)
    alpha = AlphaDivergence(hidden_layers=(), alpha=1e-3, samples=16, prior_variance=0.4, noise=0.8)
    bbb = BayesByBackprop(hidden_layers=(), noise=0.8, prior="weights", prior_deviation=0.4**0.5)
    draws = []
    for number, (policy, scale) in enumerate(((alpha, 1.0), (bbb, 50.0))):
        keys = jax.random.split(jax.random.key(number), 4000)
        losses = jax.jit(jax.vmap(lambda key, policy=policy: policy.loss(key, belief, batch, points)))(keys)
        draws.append(scale * np.asarray(losses, np.float64))
    difference = draws[0].mean() - draws[1].mean()
    error = np.sqrt(sum(draw.var() / len(draw) for draw in draws))
    assert abs(difference) < 5 * error
    assert error < 0.02 * abs(draws[1].mean())  # precise enough to notice a missing term


def test_decisions_have_the_law_of_whole_network_draws():
    """Values of one context: drawn unit by unit and by drawing all weights. Kolmogorov–Smirnov, 1 in 1,000 each."""
    layers, context, draws = beliefs((4, 3)).layers, jnp.array([0.5, -1.0, 0.8]), 4000
    keys = jax.random.split(jax.random.key(0), draws)
    by_unit = np.asarray(jax.jit(jax.vmap(lambda key: variational.predict_locally(key, layers, context)))(keys))
    networks, _ = variational.draw_networks(jax.random.key(1), layers, draws)
    by_weight = np.asarray(jax.vmap(network.predict, in_axes=(0, None))(networks, context))
    for action in range(ACTIONS):
        assert stats.ks_2samp(by_unit[:, action], by_weight[:, action]).pvalue > 1e-3
    difference = (draw[:, 0] - draw[:, 1] for draw in (by_unit, by_weight))
    assert stats.ks_2samp(*difference).pvalue > 1e-3  # the two actions' dependence, too


def test_learned_noise_finds_the_noise(history):
    """BBB with `prior="noise"`: rewards with deviation 0.5 and 1.5 by action, starting from 0.1."""
    generator = np.random.default_rng(1)
    actions = generator.integers(ACTIONS, size=400)
    rewards = np.where(actions == 0, 0.5, 1.5) * generator.normal(size=400)
    policy = BayesByBackprop(
        hidden_layers=(), prior="noise", prior_deviation=3.0, learning_rate=0.02, batch_size=128,
        training_steps=2500, initial_training_steps=2500, refit_every=20,
    )  # fmt: skip
    start = policy.init(jax.random.key(0), SPEC)
    past = history(SPEC, np.zeros((400, DIM)), actions, rewards)
    state = jax.jit(lambda state: policy.refit(jax.random.key(1), state, past))(start)
    found = policy.noise * np.exp(np.asarray(state.parameters.noise.mean))
    np.testing.assert_allclose(found, [0.5, 1.5], rtol=0.15)
