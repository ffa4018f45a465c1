"""Networks whose weights are independent Gaussians: draws, the local reparametrisation, and divergences from a prior.

A layer's pre-activation for one input x is Gaussian with mean x·m + b and variance x²·s², independent over units, so a
draw of it replaces a draw of all its weights: exactly so when, as in a decision, each draw serves one input.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors.draws import normals
from showdown.posteriors.network import Layer, Network

INITIAL_SPREAD = 0.05  # standard deviation of every initial mean, bias and log deviation about its centre
INITIAL_LOG_DEVIATION = -5.0  # weights start almost certain (s ≈ 0.007): first find a good mean


class GaussianLayer(NamedTuple):
    """Means and log standard deviations; a bias is a point estimate where it has no deviation."""

    mean: jax.Array  # (inputs, outputs) m
    log_deviation: jax.Array  # (inputs, outputs) s = exp of this
    bias: jax.Array  # (outputs,)
    bias_log_deviation: jax.Array | None  # (outputs,)


class LearnedNoise(NamedTuple):
    """A Gaussian belief about each action's log noise, as an offset from its initial value."""

    mean: jax.Array  # (num_actions,)
    log_deviation: jax.Array  # (num_actions,)


MeanField = tuple[GaussianLayer, ...]


def init(key: jax.Array, sizes: list[tuple[int, int]], random_biases: bool) -> MeanField:
    layers = []
    for layer_key, (inputs, outputs) in zip(jax.random.split(key, len(sizes)), sizes, strict=True):
        shapes = [(inputs, outputs), (inputs, outputs), (outputs,), (outputs,)]
        mean, log_deviation, bias, bias_log_deviation = (INITIAL_SPREAD * each for each in normals(layer_key, shapes))
        layers.append(
            GaussianLayer(
                mean=mean,
                log_deviation=INITIAL_LOG_DEVIATION + log_deviation,
                bias=bias,
                bias_log_deviation=INITIAL_LOG_DEVIATION + bias_log_deviation if random_biases else None,
            )
        )
    return tuple(layers)


def init_noise(key: jax.Array, num_actions: int) -> LearnedNoise:
    mean, log_deviation = INITIAL_SPREAD * jax.random.normal(key, (2, num_actions))
    return LearnedNoise(mean, INITIAL_LOG_DEVIATION + log_deviation)


def draw_noise(key: jax.Array, noise: LearnedNoise, initial: jax.Array | float) -> jax.Array:
    """One draw of every action's noise deviation, (num_actions,)."""
    spread = jnp.exp(noise.log_deviation) * jax.random.normal(key, noise.mean.shape)
    return initial * jnp.exp(noise.mean + spread)


def predict_locally(key: jax.Array, layers: MeanField, inputs: jax.Array, floor: float = 0.0) -> jax.Array:
    """Values of all actions, (…, num_actions), with fresh noise per example and unit; `floor` is added to variances."""
    noise = normals(key, [layer.bias.shape for layer in layers], inputs.shape[:-1])
    for layer, normal in zip(layers, noise, strict=True):
        if layer is not layers[0]:
            inputs = jax.nn.relu(inputs)
        variance = inputs**2 @ jnp.exp(2 * layer.log_deviation) + floor
        if layer.bias_log_deviation is not None:
            variance = variance + jnp.exp(2 * layer.bias_log_deviation)
        inputs = inputs @ layer.mean + layer.bias + jnp.sqrt(variance) * normal
    return inputs


def draw_networks(key: jax.Array, layers: MeanField, samples: int) -> tuple[Network, list[jax.Array]]:
    """`samples` whole networks (a leading axis on every array), and the standard normals they were made from.

    Every bias must be random.
    """
    shapes = [shape for layer in layers for shape in (layer.mean.shape, layer.bias.shape)]
    noise = normals(key, shapes, (samples,))
    networks = []
    for layer, for_weights, for_bias in zip(layers, noise[0::2], noise[1::2], strict=True):
        assert layer.bias_log_deviation is not None
        weights = layer.mean + jnp.exp(layer.log_deviation) * for_weights
        networks.append(Layer(weights, layer.bias + jnp.exp(layer.bias_log_deviation) * for_bias))
    return tuple(networks), noise


def divergence(mean: jax.Array, log_deviation: jax.Array, prior_variance: jax.Array | float) -> jax.Array:
    """KL(N(m, s²) ‖ N(0, p²)) summed over coordinates: Σ m²/2p² + (s²/p² − 1 − ln s² + ln p²)/2."""
    ratio = jnp.exp(2 * log_deviation) / prior_variance
    return 0.5 * jnp.sum(mean**2 / prior_variance + ratio - 1 - 2 * log_deviation + jnp.log(prior_variance))


def weight_divergence(layers: MeanField, prior_variances: list[jax.Array | float]) -> jax.Array:
    """KL of all random weights and biases from N(0, prior variance of their layer)."""
    total = jnp.float32(0.0)
    for layer, prior_variance in zip(layers, prior_variances, strict=True):
        total += divergence(layer.mean, layer.log_deviation, prior_variance)
        if layer.bias_log_deviation is not None:
            total += divergence(layer.bias, layer.bias_log_deviation, prior_variance)
    return total


def log_density(targets: jax.Array, predicted: jax.Array, deviation: jax.Array | float) -> jax.Array:
    """ln N(targets; predicted, deviation²), elementwise."""
    scaled = (targets - predicted) / deviation
    return -0.5 * scaled**2 - jnp.log(deviation) - 0.5 * jnp.log(2 * jnp.pi)
