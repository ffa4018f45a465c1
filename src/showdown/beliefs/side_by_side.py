"""The last layers of several networks, beside the context itself and a constant.

Each is trained as `DropoutFeatures` trains its one, on the same batches. Networks that start apart and drop other units
learn other features of the same contexts. Where contexts are unlike those that were judged they differ, and a belief
about all of them is less sure there than about one network of their width together, which also costs more to train.

Related: deep ensembles (Lakshminarayanan, Pritzel, Blundell, NeurIPS 2017), whose members each predict; here one belief
weighs the features of all.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.features import scaled_design
from showdown.beliefs.network_features import Drawn, NetworkState, network_inputs
from showdown.config import at_least, config, integers, param
from showdown.posteriors import network, training
from showdown.posteriors.network import Network
from showdown.posteriors.training import precision_scope
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work, network_work


@config
class SideBySide(DropoutFeatures):
    """[last hidden layers of all networks / √their width, context / (scale·√context_dim), 1]."""

    several = True
    networks: int = param(2, "how many", at_least(1), integers(1, 4))

    @property
    def width(self) -> int:
        """Of the last layers together."""
        return self.networks * self.last_units

    def dim(self, spec: ProblemSpec) -> int:
        return self.width + spec.input_dim + 1

    def new_network(self, key: jax.Array, spec: ProblemSpec) -> Network:
        """Untrained weights of all networks, along a new first axis."""
        one = super().new_network
        return jax.vmap(lambda key: one(key, spec))(jax.random.split(key, self.networks))

    def design(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        plain, seen = scaled_design(state.contexts, inputs), network_inputs(state.contexts, inputs)
        with precision_scope(self.feature_precision):
            each = jax.vmap(network.features, in_axes=(0, None), out_axes=-2)(state.averaged, seen)
        features = each.reshape(*each.shape[:-2], self.width)  # (…, networks, units) before
        return jnp.concatenate([features / jnp.sqrt(jnp.float32(self.width)), plain], axis=-1)

    def learned(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        return self.design(state, inputs)[..., : self.width]

    def predicted(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        """What the networks say of rewards on average, (…, num_outputs)."""
        seen = network_inputs(state.contexts, inputs)
        return state.unit * jax.vmap(network.predict, in_axes=(0, None))(state.averaged, seen).mean(axis=0)

    def refit(self, key: jax.Array, state: NetworkState, history: History) -> NetworkState:
        def loss(key: jax.Array, parameters: Network, drawn: Drawn) -> jax.Array:
            """The sum over networks, so that each is trained as it would be alone."""

            def of_one(key: jax.Array, parameters: Network) -> jax.Array:
                predicted = self.predict(key, parameters, drawn.inputs)
                return training.mean_squared_error(drawn.batch.played(predicted), drawn.batch.rewards)

            return jax.vmap(of_one)(jax.random.split(key, self.networks), parameters).sum()

        return self.trained(key, state, history, loss)

    def work(self, spec: ProblemSpec, horizon: int, posteriors: int) -> Work:
        return network_work(
            spec,
            horizon,
            layers=self.hidden_layers,
            training_steps=self.training_steps(horizon),
            batch_size=self.batch_size,
            networks=self.networks,
            trainings=horizon // self.refit_every,
            posteriors=posteriors,
            width=self.dim(spec),
        )
