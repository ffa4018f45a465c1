"""Networks and their training against NumPy in float64: forward pass, dropout, RMSProp, schedule."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from showdown.policies.greedy_network import GreedyNetwork
from showdown.policies.shared.variational import decaying_steps
from showdown.posteriors import network, training
from showdown.posteriors.network import Layer
from showdown.protocol.policy import Batch
from showdown.protocol.problem import ProblemSpec

SIZES = [(3, 5), (5, 4), (4, 2)]


def forward(layers: network.Network, inputs: np.ndarray, layer_norm: bool) -> np.ndarray:
    values = np.asarray(inputs, np.float64)
    for layer in layers[:-1]:
        values = values @ np.asarray(layer.weights, np.float64)
        if layer_norm:
            values = (values - values.mean(-1, keepdims=True)) / np.sqrt(values.var(-1, keepdims=True) + 1e-12)
            values = values * np.asarray(layer.scale)
        values = np.maximum(values + np.asarray(layer.bias), 0)
    return values @ np.asarray(layers[-1].weights, np.float64) + np.asarray(layers[-1].bias)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_forward_pass(layer_norm):
    start = network.init(jax.random.key(0), SIZES, 0.3, layer_norm)
    for layer, size in zip(start, SIZES, strict=True):
        assert layer.weights.shape == size
        assert float(jnp.abs(layer.weights).max()) <= 0.3
        assert not layer.bias.any()
    shifted = jax.tree.map(lambda leaf: leaf + 0.1 * jax.random.normal(jax.random.key(leaf.size), leaf.shape), start)
    inputs = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    np.testing.assert_allclose(
        network.predict(shifted, jnp.asarray(inputs)), forward(shifted, inputs, layer_norm), rtol=2e-5, atol=2e-6
    )
    assert (start[0].scale is not None) == layer_norm
    assert start[-1].scale is None  # the output is never normalised


def test_initial_weights_fill_their_range():
    """Uniform on (−0.3, 0.3): Kolmogorov–Smirnov, false alarms 1 in 1,000."""
    weights = np.asarray(network.init(jax.random.key(1), [(40, 50)], 0.3)[0].weights).ravel()
    assert stats.kstest(weights, stats.uniform(-0.3, 0.6).cdf).pvalue > 1e-3


def test_no_hidden_layer_is_a_linear_model():
    sizes = network.layer_sizes(3, (), 2)
    model = network.init(jax.random.key(0), sizes, 0.3)
    contexts = jnp.eye(3)
    np.testing.assert_allclose(network.predict(model, contexts), model[0].weights, rtol=1e-6)
    np.testing.assert_array_equal(network.features(model, contexts), contexts)


def test_dropout_keeps_units_at_the_right_rate_and_scale():
    """Units that are always 1, shown one by one: each is 0 or 1/p, kept with rate p, independently of its neighbour and
    of the next example (binomial tests, false alarms 1 in 1,000 each)."""
    units, examples, keep = 4, 20_000, 0.8
    shown = (Layer(jnp.zeros((2, units)), jnp.ones(units)), Layer(jnp.eye(units), jnp.zeros(units)))
    values = np.asarray(network.predict_with_dropout(jax.random.key(0), shown, jnp.zeros((examples, 2)), keep))
    assert set(np.unique(values)) == {np.float32(0.0), np.float32(1 / np.float32(keep))}
    kept = values > 0
    assert stats.binomtest(int(kept.sum()), kept.size, keep).pvalue > 1e-3
    for first, second in ((kept[:, 0], kept[:, 1]), (kept[:-1, 0], kept[1:, 0])):
        both = stats.binomtest(int((first & second).sum()), len(first), keep**2)
        assert both.pvalue > 1e-3


def test_rmsprop_is_tensorflows_rule():
    """Five steps by hand: global clip, m starting at one, ε inside the root, rate γ0/(1 + ρ s)."""
    rate, decay, clip = 0.7, 0.55, 0.5
    generator = np.random.default_rng(0)
    weights, inputs = generator.normal(size=(3, 2)), generator.normal(size=(8, 3))
    actions, rewards = generator.integers(2, size=8), generator.normal(size=8)
    batch = Batch(*(jnp.asarray(array) for array in (inputs.astype(np.float32), actions, rewards.astype(np.float32))))

    policy = GreedyNetwork(
        hidden_layers=(), training_steps=5, learning_rate=rate, learning_rate_decay=decay, gradient_clip=clip
    )
    start = policy.init(jax.random.key(0), ProblemSpec(3, 2))
    start = start._replace(parameters=(Layer(jnp.asarray(weights, jnp.float32), jnp.zeros(2)),))
    fit = policy.train(jax.random.key(1), start, lambda key: batch)

    bias, squares = np.zeros(2), [np.ones((3, 2)), np.ones(2)]
    clipped = 0
    for update in range(5):
        error = (inputs @ weights + bias)[np.arange(8), actions] - rewards
        wide = np.zeros((8, 2))
        wide[np.arange(8), actions] = 2 * error / 8
        gradients = [inputs.T @ wide, wide.sum(axis=0)]
        norm = np.sqrt(sum((g**2).sum() for g in gradients))
        clipped += norm > clip
        gradients = [g * min(1, clip / norm) for g in gradients]
        squares = [0.9 * m + 0.1 * g**2 for m, g in zip(squares, gradients, strict=True)]
        steps = [rate / (1 + decay * update) * g / np.sqrt(m + 1e-10) for g, m in zip(gradients, squares, strict=True)]
        weights, bias = weights - steps[0], bias - steps[1]
    assert 0 < clipped < 5  # both sides of the clip were tried
    np.testing.assert_allclose(fit.parameters[0].weights, weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fit.parameters[0].bias, bias, rtol=1e-4, atol=1e-5)
    assert int(fit.updates) == 5


@pytest.mark.parametrize("steps", [0, 1, 7, 8])
def test_a_stride_changes_nothing_but_when_the_loop_looks_up(steps):
    """Steps beyond the last one are taken, and must leave no trace in parameters, optimiser or counts."""
    target = jnp.arange(3.0)

    def trained(stride: int) -> training.Fit:
        return jax.jit(
            lambda steps: training.train(
                jax.random.key(0),
                training.begin(jnp.zeros(3), optax.scale_by_adam()),
                steps,
                draw=lambda key: jax.random.normal(key, (3,)),
                loss=lambda key, parameters, noise: jnp.sum((parameters - target - noise) ** 2),
                direction=optax.scale_by_adam(),
                rate=lambda updates: training.decayed(0.1, 0.5, updates),
                stride=stride,
            )
        )(jnp.int32(steps))

    one, other = trained(1), trained(7)
    assert int(one.updates) == int(one.optimiser.count) == steps
    jax.tree.map(np.testing.assert_array_equal, one, other)


@pytest.mark.parametrize("reset", [False, True])
def test_learning_rate_reset_is_genuine(reset):
    """With a rate that vanishes after the first update, a second training moves only if the count was reset."""
    policy = GreedyNetwork(
        hidden_layers=(), training_steps=1, learning_rate_decay=1e9, reset_learning_rate=reset, batch_size=4
    )
    batch = Batch(jnp.ones((4, 2)), jnp.zeros(4, jnp.int32), 10 * jnp.ones(4))
    once = policy.train(jax.random.key(1), policy.init(jax.random.key(0), ProblemSpec(2, 2)), lambda key: batch)
    twice = policy.train(jax.random.key(2), once, lambda key: batch)
    moved = float(jnp.abs(twice.parameters[0].bias - once.parameters[0].bias).max())
    assert (moved > 0.1) == reset


def test_overflowing_gradient_is_not_hidden_by_clipping():
    clip = training.clip_by_global_norm(5.0)
    gradient = {"weights": jnp.array([3e38, 3e38])}
    clipped, _ = clip.update(gradient, clip.init(gradient))
    assert jnp.isnan(clipped["weights"]).all()


def test_long_first_trainings():
    published = np.linspace(10_000, 100, 100).astype(int)
    steps = [int(decaying_steps(jnp.int32(j), first=10_000, last=100, trainings=100)) for j in range(103)]
    np.testing.assert_array_equal(steps[:100], published)
    assert steps[100:] == [100, 100, 100]
    assert abs(sum(steps[:100]) - 505_000) <= 100
