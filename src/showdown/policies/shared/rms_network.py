"""A network trained by RMSProp on all rewards seen: the base of greedy, dropout, bootstrap and other networks.

What differs from the paper is said in `greedy_network.py`, the family that adds nothing to it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.config import config, linear, log, non_negative, param, positive
from showdown.policies.shared.neural import NeuralPolicy
from showdown.posteriors import network, training
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Batch, History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.tricks import fused_training
from showdown.tricks.fused_training import TrainingKernel


@config
class RMSNetwork(NeuralPolicy):
    """Predicts the reward of every action; the state is the fit alone."""

    sees_action_features = True  # as inputs, beside the context; the network then has one output

    learning_rate: float = param(1.0, "γ0: learning rate of the first update", positive, log(1e-3, 10))
    learning_rate_decay: float = param(0.55, "ρ: the rate is γ0 / (1 + ρ·updates so far)", non_negative, linear(0, 5))
    reset_learning_rate: bool = param(False, "count updates from zero at every training")
    gradient_clip: float = param(5.0, "largest global norm of a gradient", positive, log(0.1, 100))
    initial_scale: float = param(0.3, "initial weights are uniform on ± this", positive, log(0.01, 1))
    layer_norm: bool = param(False, "normalise the units of each hidden layer")
    training_kernel: TrainingKernel = param(
        "auto", "fused: by one kernel of a Hopper GPU; plain; auto: fused where it can be", identity=False
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> Fit:
        return self.init_fit(key, spec)

    def init_fit(self, key: jax.Array, spec: ProblemSpec) -> Fit:
        start = network.init(key, self.sizes(spec), self.initial_scale, self.layer_norm)
        return training.begin(start, training.rms_direction(self.gradient_clip))

    def predict(self, key: jax.Array, parameters: Network, inputs: jax.Array) -> jax.Array:
        """The values of inputs, (…, num_outputs); used to train and, unless overridden, to decide."""
        return network.predict(parameters, inputs)

    def scores(self, key: jax.Array, state: Fit, situation: Situation) -> jax.Array:
        return self.values_by(partial(self.predict, key, state.parameters), situation)

    def values_by(self, predict: Callable[[jax.Array], jax.Array], situation: Situation) -> jax.Array:
        """The value of each action by one network, however it is drawn: the same one for the inputs of all actions."""
        if situation.features is None:
            return predict(situation.inputs)
        return situation.by_action(jax.vmap(predict)(situation.inputs))

    def refit(self, key: jax.Array, state: Fit, history: History) -> Fit:
        return self.train(key, state, self.batches(history))

    def train(self, key: jax.Array, fit: Fit, draw: Callable[[jax.Array], Batch]) -> Fit:
        """One training of `training_steps` updates on batches from `draw`."""

        def loss(key: jax.Array, parameters: Network, batch: Batch) -> jax.Array:
            predicted = batch.played(self.predict(key, parameters, batch.inputs))
            return training.mean_squared_error(predicted, batch.rewards)

        if self.reset_learning_rate:
            fit = fit._replace(updates=jnp.zeros_like(fit.updates))
        start = role_key(key, "train"), fit, self.training_steps
        rate = partial(training.decayed, self.learning_rate, self.learning_rate_decay)
        with training.precision_scope(self.training_precision):
            if self.fuses(fit, jax.eval_shape(draw, key)):
                fit = fused_training.train(*start, draw=draw, rate=rate, gradient_clip=self.gradient_clip)
            else:
                direction = training.rms_direction(self.gradient_clip)
                fit = training.train(*start, draw=draw, loss=loss, direction=direction, rate=rate)
            batch = draw(role_key(key, "check batch"))
            error = loss(role_key(key, "check"), fit.parameters, batch)
        return fit._replace(parameters=training.or_nan_if_diverged(fit.parameters, error, batch.rewards))

    def fuses(self, fit: Fit, batch: Batch) -> bool:
        """Whether the fused kernel trains it: it knows one kind of network, one loss and one precision."""
        known = type(self).predict is RMSNetwork.predict and self.training_precision == "default"
        possible = known and batch.features is None and fused_training.fits(fit.parameters, batch.rewards.shape[0])
        if self.training_kernel == "fused" and not possible:
            raise UsageError(f"training_kernel=fused {fused_training.LIMITS}")
        wanted = self.training_kernel == "fused" or (self.training_kernel == "auto" and fused_training.pays())
        return wanted and possible
