"""The last layers of several networks, beside the context itself and a constant.

Each is trained as `DropoutFeatures` trains its one, on the same batches. Networks that start apart and drop other units
learn other features of the same contexts. Where contexts are unlike those that were judged they differ, and a belief
about all of them is less sure there than about one network of their width together, which also costs more to train.

Related: deep ensembles (Lakshminarayanan, Pritzel, Blundell, NeurIPS 2017), whose members each predict; here one belief
weighs the features of all.
"""

from __future__ import annotations

import jax

from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.network_features import Drawn, NetworkState, network_inputs
from showdown.config import at_least, config, integers, linear, param, probability
from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.protocol.problem import ProblemSpec


@config
class SideBySide(DropoutFeatures):
    """[last hidden layers of all networks / √their width, context / (scale·√context_dim), 1]."""

    several = True
    networks: int = param(2, "how many", at_least(1), integers(1, 4))
    averaging: float = param(
        0.5, "weight of the last average in the average of weights after each training", probability, linear(0.0, 0.95)
    )

    def new_network(self, key: jax.Array, spec: ProblemSpec) -> Network:
        """Untrained weights of all networks, along a new first axis."""
        one = super().new_network
        return jax.vmap(lambda key: one(key, spec))(jax.random.split(key, self.networks))

    def last_layer(self, parameters: Network, inputs: jax.Array) -> jax.Array:
        each = jax.vmap(network.features, in_axes=(0, None), out_axes=-2)(parameters, inputs)  # (…, networks, units)
        return each.reshape(*each.shape[:-2], self.width)

    def predicted(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        """What the networks say of rewards on average, (…, num_outputs)."""
        seen = network_inputs(state.contexts, inputs)
        return state.unit * jax.vmap(network.predict, in_axes=(0, None))(state.averaged, seen).mean(axis=0)

    def error(self, key: jax.Array, parameters: Network, drawn: Drawn) -> jax.Array:
        """The sum over networks, so that each is trained as it would be alone."""
        of_one, keys = super().error, jax.random.split(key, self.networks)
        return jax.vmap(lambda key, parameters: of_one(key, parameters, drawn))(keys, parameters).sum()


FAST = SideBySide(hidden_layers=(32, 32), batch_size=64, learning_rate=2e-3)  # for a service on a CPU
