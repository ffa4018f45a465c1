"""The last layer of a network that is trained with dropout, beside the context itself and a constant.

Differences from `NetworkFeatures`: hidden units are dropped at random while the network trains (features are computed
with all of them), so that it does not fit the noise of a small table; and it is trained harder while there is little
data: a training after n contexts has 1 + `early_training`·h / (h + n) updates per context, with h = 500.

Dropout: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 2014.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from showdown.beliefs.network_features import NetworkFeatures
from showdown.config import at_least, config, integers, linear, non_negative, param, positive_probability
from showdown.posteriors import network
from showdown.posteriors.network import Network

EARLY = 500.0  # contexts after which half of the additional updates are left


@config
class DropoutFeatures(NetworkFeatures):
    """[last hidden layer / √width, context / (scale·√context_dim), 1]."""

    batch_size: int = param(128, "examples per update", at_least(1), integers(32, 512), small=8)
    weight_decay: float = param(
        0.0, "weights shrink by learning_rate times this per update", non_negative, linear(0.0, 0.3)
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
