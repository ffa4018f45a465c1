"""The last hidden layer of the network that NeuralLinear trains, as features for any belief."""

from __future__ import annotations

import jax

from showdown.beliefs.features import Features
from showdown.config import config, param
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit, precision_scope
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work


@config
class RMSFeatures(Features):
    """The last hidden layer, without context or constant: with the belief of NeuralLinear it is NeuralLinear."""

    network: RMSNetwork = param(RMSNetwork(training_steps=20), "that is trained by RMSProp")

    @property
    def refit_every(self) -> int:
        return self.network.refit_every

    def dim(self, spec: ProblemSpec) -> int:
        return self.network.sizes(spec)[-1][0]

    def init(self, key: jax.Array, spec: ProblemSpec) -> Fit:
        return self.network.init_fit(key, spec)

    def design(self, state: Fit, inputs: jax.Array) -> jax.Array:
        with precision_scope("highest"):
            return network.features(state.parameters, inputs)

    def learned(self, state: Fit, inputs: jax.Array) -> jax.Array:
        return self.design(state, inputs)

    def predicted(self, state: Fit, inputs: jax.Array) -> jax.Array:
        """What the network itself says of rewards, (…, num_outputs)."""
        return network.predict(state.parameters, inputs)

    def tangents(self, state: Fit, inputs: jax.Array) -> tuple[Network, jax.Array, float]:
        """The network, what it sees of inputs, and what its units are multiplied by in a design."""
        return state.parameters, inputs, 1.0

    def refit(self, key: jax.Array, state: Fit, history: History) -> Fit:
        return self.network.train(role_key(key, "fit"), state, self.network.batches(history))

    def work(self, spec: ProblemSpec, horizon: int, posteriors: int) -> Work:
        work = self.network.work(spec, horizon)
        features = 2.0 * horizon / 2 * self.network.trainings(horizon) * self.dim(spec) ** 2 * posteriors
        return work._replace(operations=work.operations + features, posteriors=posteriors)
