"""The last layers of two networks that are trained with dropout, beside the context itself and a constant.

Differences from `NetworkFeatures`:

- Hidden units are dropped at random while the networks train (features are computed with all of them), so that they do
  not fit the noise of a small table.
- Networks that start apart and drop other units learn other features of the same contexts. Where contexts are unlike
  those that were judged they differ, and a belief about both is less sure there than about one network of twice the
  width, which costs more to train.
- They are trained harder while there is little data: a training after n contexts has 1 + `early_training`·h / (h + n)
  updates per context, with h = 500.

Dropout: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 2014.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from showdown.beliefs.network_features import TrainedFeatures, he_network
from showdown.config import (
    at_least,
    config,
    integers,
    linear,
    log,
    non_negative,
    param,
    positive,
    positive_probability,
    probability,
    sizes,
)
from showdown.posteriors import network, training
from showdown.posteriors.network import Network
from showdown.posteriors.training import Precision
from showdown.protocol.situation import Batch

EARLY = 500.0  # contexts after which half of the additional updates are left


@config
class DropoutFeatures(TrainedFeatures):
    """[last hidden layers / √width, context / (scale·√context_dim), 1], with the width of all networks together."""

    layer_norm = True

    networks: int = param(2, "networks side by side", at_least(1), integers(1, 4))
    hidden_layers: tuple[int, ...] = param((100, 100), "units of each hidden layer of each", sizes, small=(4,))
    refit_every: int = param(20, "contexts between trainings, at first", at_least(1), integers(10, 100), small=6)
    batch_size: int = param(128, "examples per update", at_least(1), integers(32, 512), small=8)
    learning_rate: float = param(1e-3, "of Adam, constant", positive, log(1e-4, 1e-2))
    keep_probability: float = param(
        0.8, "probability that a hidden unit is kept in an update", positive_probability, linear(0.3, 1)
    )
    early_training: float = param(1.0, "additional updates per context, at first", non_negative, linear(0.0, 6.0))
    averaging: float = param(
        0.9, "weight of the last average in the average of weights after each training", probability, linear(0.0, 0.95)
    )
    feature_precision: Precision = param("highest", "of features and Gram matrices: highest is full float32")
    training_precision: Precision = param("default", "of training: default is TF32 on a GPU")

    def untrained(self, key: jax.Array, layers: list[tuple[int, int]]) -> Network:
        keys = jax.random.split(key, self.networks)
        return jax.vmap(lambda key: he_network(key, layers, self.layer_norm))(keys)

    def last_layer(self, parameters: Network, inputs: jax.Array) -> jax.Array:
        each = jax.vmap(network.features, in_axes=(0, None), out_axes=-2)(parameters, inputs)  # (…, networks, units)
        return each.reshape(*each.shape[:-2], self.width)

    def error(
        self, key: jax.Array, parameters: Network, inputs: jax.Array, batch: Batch, targets: jax.Array
    ) -> jax.Array:
        """The sum over networks, so that each is trained as it would be alone."""

        def of_one(key: jax.Array, parameters: Network) -> jax.Array:
            predicted = network.predict_with_dropout(key, parameters, inputs, self.keep_probability)
            return training.mean_squared_error(batch.played(predicted), targets)

        return jax.vmap(of_one)(jax.random.split(key, self.networks), parameters).sum()

    def updates(self, count: jax.Array) -> jax.Array:
        more = self.early_training * EARLY / (EARLY + count.astype(jnp.float32))
        usual = super().updates(count).astype(jnp.float32)
        return jnp.round(usual * (1 + more)).astype(jnp.int32)

    def training_steps(self, horizon: int) -> int:
        return super().training_steps(horizon) + round(self.early_training * EARLY * math.log1p(horizon / EARLY))
