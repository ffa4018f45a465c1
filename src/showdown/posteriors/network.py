"""Multi-layer perceptrons as plain PyTrees: a tuple of layers, the last one linear.

Hidden layers are ReLU. With layer norm a hidden layer is: product without bias → normalise over the units of each
example → learned scale and shift → ReLU. No hidden layer makes a linear model. Dropout is inverted (kept units are
divided by the keep probability) and follows the activation of each hidden layer.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors.draws import cut, total

NORM_EPSILON = 1e-12  # added to the variance in layer norm


class Layer(NamedTuple):
    weights: jax.Array  # (inputs, outputs)
    bias: jax.Array  # (outputs,) the learned shift, where the layer is normalised
    scale: jax.Array | None = None  # (outputs,) the learned scale, where the layer is normalised


Network = tuple[Layer, ...]


def layer_sizes(context_dim: int, hidden_layers: tuple[int, ...], num_actions: int) -> list[tuple[int, int]]:
    """(inputs, outputs) of each layer."""
    sizes = (context_dim, *hidden_layers, num_actions)
    return list(pairwise(sizes))


def init(
    key: jax.Array, sizes: list[tuple[int, int]], initial_scale: jax.Array | float, layer_norm: bool = False
) -> Network:
    """Weights uniform on (−initial_scale, initial_scale), biases zero."""
    flat = jax.random.uniform(key, (total(list(sizes)),), minval=-initial_scale, maxval=initial_scale)
    last = len(sizes) - 1
    return tuple(
        Layer(weights, jnp.zeros(outputs), jnp.ones(outputs) if layer_norm and index < last else None)
        for index, (weights, (_, outputs)) in enumerate(zip(cut(flat, list(sizes)), sizes, strict=True))
    )


def normalise(values: jax.Array) -> jax.Array:
    """Mean 0 and variance 1 over the last axis."""
    centred = values - values.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + NORM_EPSILON)


def hidden(layer: Layer, inputs: jax.Array) -> jax.Array:
    """The activations of one hidden layer, (…, outputs)."""
    values = inputs @ layer.weights
    if layer.scale is not None:
        values = normalise(values) * layer.scale
    return jax.nn.relu(values + layer.bias)


def features(network: Network, inputs: jax.Array) -> jax.Array:
    """What the last hidden layer gives, (…, width); the inputs themselves in a linear model."""
    for layer in network[:-1]:
        inputs = hidden(layer, inputs)
    return inputs


def output(layer: Layer, inputs: jax.Array) -> jax.Array:
    return inputs @ layer.weights + layer.bias


def predict(network: Network, inputs: jax.Array) -> jax.Array:
    """One value per action, (…, num_actions)."""
    return output(network[-1], features(network, inputs))


def predict_with_dropout(
    key: jax.Array, network: Network, inputs: jax.Array, keep_probability: jax.Array | float
) -> jax.Array:
    """As `predict`, with each hidden unit of each example kept with `keep_probability`; all actions share the mask."""
    widths = [layer.bias.shape for layer in network[:-1]]
    kept = jax.random.bernoulli(key, keep_probability, (*inputs.shape[:-1], total(widths)))
    for layer, mask in zip(network[:-1], cut(kept, widths), strict=True):
        inputs = jnp.where(mask, hidden(layer, inputs) / keep_probability, 0.0)
    return output(network[-1], inputs)


def of_played(values: jax.Array, actions: jax.Array) -> jax.Array:
    """The entry of each example's own action, (…, size); a masked sum, whose gradient needs no scatter."""
    return jnp.sum(values * jax.nn.one_hot(actions, values.shape[-1]), axis=-1)
