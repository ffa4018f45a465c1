"""The last layer of a network that is trained with dropout, or of several, beside the context itself and a constant.

Differences from `NetworkFeatures`: hidden units are dropped at random while the network trains (features are computed
with all of them), so that it does not fit the noise of a small table; weights do not decay; and the network is trained
harder while there is little data: a training after n contexts has 1 + `early_training`·h / (h + n) updates per context,
with h = 500.

`DropoutNetworks` is what Council sees: two such networks. They start apart and drop other units, so they learn other
features of the same contexts. Where contexts are unlike those that were judged they differ, and a belief about both is
less sure there than about one network of twice the width, which costs more to train.

Dropout: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 2014.
"""

from __future__ import annotations

import math
from typing import NoReturn

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.beliefs.network_features import Drawn, NetworkFeatures, NetworkState, network_inputs
from showdown.config import at_least, config, integers, linear, log, non_negative, param, positive_probability
from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.protocol.problem import ProblemSpec

EARLY = 500.0  # contexts after which half of the additional updates are left


@config
class DropoutFeatures(NetworkFeatures):
    """[last hidden layer / √width, context / (scale·√context_dim), 1]."""

    batch_size: int = param(128, "examples per update", at_least(1), integers(32, 512), small=8)
    weight_decay: float = param(
        0.0, "weights shrink by learning_rate times this per update", non_negative, log(1e-3, 1.0)
    )
    keep_probability: float = param(
        0.8, "probability that a hidden unit is kept in an update", positive_probability, linear(0.3, 1)
    )
    early_training: float = param(1.0, "additional updates per context, at first", non_negative, linear(0.0, 6.0))

    def updates(self, count: jax.Array) -> jax.Array:
        more = self.early_training * EARLY / (EARLY + count.astype(jnp.float32))
        usual = super().updates(count).astype(jnp.float32)
        return jnp.round(usual * (1 + more)).astype(jnp.int32)

    def training_steps(self, horizon: int) -> int:
        return super().training_steps(horizon) + round(self.early_training * EARLY * math.log1p(horizon / EARLY))

    def predict(self, key: jax.Array, parameters: Network, inputs: jax.Array) -> jax.Array:
        return network.predict_with_dropout(key, parameters, inputs, self.keep_probability)


@config
class DropoutNetworks(DropoutFeatures):
    """[last hidden layers / √width, context / (scale·√context_dim), 1], with the width of all networks together."""

    networks: int = param(2, "networks side by side", at_least(1), integers(1, 4))

    def new_network(self, key: jax.Array, spec: ProblemSpec) -> Network:
        """Untrained weights of all networks, which are a leading axis of every array."""
        start = super().new_network
        return jax.vmap(lambda key: start(key, spec))(jax.random.split(key, self.networks))

    def last_layer(self, parameters: Network, inputs: jax.Array) -> jax.Array:
        each = jax.vmap(network.features, in_axes=(0, None), out_axes=-2)(parameters, inputs)  # (…, networks, units)
        return each.reshape(*each.shape[:-2], self.width)

    def error(self, key: jax.Array, parameters: Network, drawn: Drawn) -> jax.Array:
        """The sum over networks, so that each is trained as it would be alone."""
        of_one = super().error
        keys = jax.random.split(key, self.networks)
        return jax.vmap(lambda key, parameters: of_one(key, parameters, drawn))(keys, parameters).sum()

    def predicted(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        """What the networks say of rewards on average, (…, num_outputs)."""
        seen = network_inputs(state.contexts, inputs)
        return state.unit * jax.vmap(network.predict, in_axes=(0, None))(state.averaged, seen).mean(axis=0)

    def tangents(self, state: NetworkState, inputs: jax.Array) -> NoReturn:
        raise UsageError("tangents are those of one network: use DropoutFeatures, which is one of Council's two")
