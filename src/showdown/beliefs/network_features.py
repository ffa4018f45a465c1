"""The last layer of a small network, beside the context itself and a constant.

The network learns to predict the rewards of all actions, in units of their root mean square, by Adam with decoupled
weight decay: one update for each context seen, on batches drawn from all of history. Its inputs are the scaled context
and a constant, so that layer norm keeps the length of a context. It is trained often at first and less often later:
after every `refit_every` contexts up to 1,000, after five times as many up to 4,000, then after ten times as many.

Cost per refit: `refit_every` (times 1, 5 or 10) updates of 6·batch_size·weights operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import optax

from showdown.basics.errors import UsageError
from showdown.beliefs.features import ContextScale, Features, scaled_design
from showdown.config import (
    at_least,
    config,
    integers,
    linear,
    log,
    non_negative,
    param,
    positive,
    probability,
    sizes,
)
from showdown.posteriors import network, training
from showdown.posteriors.draws import cut, total
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit, Precision, precision_scope
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch
from showdown.protocol.work import Work, network_work

STAGES = ((1000, 1), (4000, 5))  # up to so many contexts, refit after so many times `refit_every`
LAST_STAGE = 10
STRIDE = 20  # training steps between two looks at the end of the loop; divides every number of steps it is given


class NetworkState(NamedTuple):
    fit: Fit
    averaged: Any  # what features are computed with: a Network, or whatever else a policy trains with the same recipe
    contexts: ContextScale
    squares: jax.Array  # () sum of squared rewards

    @property
    def unit(self) -> jax.Array:
        """The root mean square of the rewards seen, in which the network predicts; 1 where they are all 0, ()."""
        unit = jnp.sqrt(self.squares / jnp.maximum(self.contexts.seen, 1.0))
        return jnp.where(unit > 0, unit, 1.0)


class Drawn(NamedTuple):
    """A mini-batch as the network sees it."""

    rows: jax.Array  # (size,) of history
    inputs: jax.Array  # (size, input_dim + 1) scaled, with a constant
    batch: Batch  # its rewards are in units of their root mean square


@config
class NetworkFeatures(Features):
    """[last hidden layer / √width, context / (scale·√context_dim), 1]."""

    several: ClassVar[bool] = False  # whether weights have a first axis of networks

    hidden_layers: tuple[int, ...] = param((100, 100), "units of each hidden layer", sizes, small=(4,))
    layer_norm: bool = param(True, "normalise the units of each hidden layer", small=True)
    refit_every: int = param(20, "contexts between trainings, at first", at_least(1), integers(10, 100), small=6)
    batch_size: int = param(256, "examples per update", at_least(1), integers(32, 512), small=8)
    learning_rate: float = param(1e-3, "of Adam, constant", positive, log(1e-4, 1e-2))
    weight_decay: float = param(
        0.03, "weights shrink by learning_rate times this per update", non_negative, log(1e-3, 1.0)
    )
    averaging: float = param(
        0.9, "weight of the last average in the average of weights after each training", probability, linear(0.0, 0.95)
    )
    feature_precision: Precision = param("highest", "of features and Gram matrices: highest is full float32")
    training_precision: Precision = param("default", "of training: default is TF32 on a GPU")

    @property
    def last_units(self) -> int:
        """Units of the last hidden layer."""
        if not self.hidden_layers:
            raise UsageError("features of a network are its last hidden layer, and hidden_layers=() has none")
        return self.hidden_layers[-1]

    networks = 1  # side by side; their last layers are one design

    @property
    def width(self) -> int:
        """How many numbers of a design are learned."""
        return self.networks * self.last_units

    def dim(self, spec: ProblemSpec) -> int:
        return self.width + spec.input_dim + 1

    def init(self, key: jax.Array, spec: ProblemSpec) -> NetworkState:
        return self.begin(self.new_network(key, spec))

    def begin(self, parameters: Any) -> NetworkState:
        """The state before anything was seen, of whatever is to be trained."""
        return NetworkState(
            training.begin(parameters, self._direction()), parameters, ContextScale.start(), jnp.float32(0.0)
        )

    def new_network(self, key: jax.Array, spec: ProblemSpec) -> Network:
        """Untrained weights."""
        sizes = network.layer_sizes(spec.input_dim + 1, self.hidden_layers, spec.num_outputs)
        return he_network(key, sizes, self.layer_norm)

    def design(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        plain = scaled_design(state.contexts, inputs)
        with precision_scope(self.feature_precision):
            features = self.last_layer(state.averaged, _inputs(plain))
        return jnp.concatenate([features / jnp.sqrt(jnp.float32(features.shape[-1])), plain], axis=-1)

    def last_layer(self, parameters: Network, inputs: jax.Array) -> jax.Array:
        """What the network makes of its inputs, (…, width)."""
        return network.features(parameters, inputs)

    def learned(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        return self.design(state, inputs)[..., : self.width]

    def predicted(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        """What the network itself says of rewards, (…, num_outputs)."""
        return state.unit * network.predict(state.averaged, network_inputs(state.contexts, inputs))

    def tangents(self, state: NetworkState, inputs: jax.Array) -> tuple[Network, jax.Array, float]:
        """The network, what it sees of inputs, and what its units are multiplied by in a design."""
        return state.averaged, network_inputs(state.contexts, inputs), self.last_units**-0.5

    def observe(self, state: NetworkState, inputs: jax.Array, reward: jax.Array) -> NetworkState:
        return state._replace(contexts=state.contexts.observe(inputs), squares=state.squares + reward**2)

    def _times(self, count: jax.Array) -> jax.Array:
        """How many times `refit_every` lie between refits after `count` contexts."""
        times = jnp.int32(LAST_STAGE)
        for until, value in reversed(STAGES):
            times = jnp.where(count <= until, value, times)
        return times

    def due(self, count: jax.Array) -> jax.Array:
        return count // self.refit_every % self._times(count) == 0

    def updates(self, count: jax.Array) -> jax.Array:
        """How many updates a training after `count` contexts makes, ()."""
        return self.refit_every * self._times(count)

    def predict(self, key: jax.Array, parameters: Network, inputs: jax.Array) -> jax.Array:
        """What the network in training says of rewards, (…, num_outputs)."""
        return network.predict(parameters, inputs)

    def refit(self, key: jax.Array, state: NetworkState, history: History) -> NetworkState:
        return self.trained(key, state, history, self.error)

    def error(self, key: jax.Array, parameters: Network, drawn: Drawn) -> jax.Array:
        """What training minimises on one mini-batch, ()."""
        predicted = self.predict(key, parameters, drawn.inputs)
        return training.mean_squared_error(drawn.batch.played(predicted), drawn.batch.rewards)

    def trained(
        self,
        key: jax.Array,
        state: NetworkState,
        history: History,
        loss: Callable[[jax.Array, Any, Drawn], jax.Array],
    ) -> NetworkState:
        """The state after one training that minimises `loss`, a function of a key, the parameters and a mini-batch."""
        scale, unit = state.contexts.refit(), state.unit

        def draw(key: jax.Array) -> Drawn:
            rows = history.some_rows(key, self.batch_size)
            batch = history.at(rows)
            return Drawn(rows, network_inputs(scale, batch.inputs), batch._replace(rewards=batch.rewards / unit))

        with precision_scope(self.training_precision):
            fit = training.train(
                role_key(key, "train"),
                state.fit,
                self.updates(history.learned),
                draw=draw,
                loss=loss,
                direction=self._direction(),
                rate=lambda updates: jnp.asarray(self.learning_rate, jnp.float32),
                stride=STRIDE if self.refit_every % STRIDE == 0 else 1,
            )
        averaged = jax.tree.map(lambda new, old: new + self.averaging * (old - new), fit.parameters, state.averaged)
        return NetworkState(fit, averaged, scale, state.squares)

    def work(self, spec: ProblemSpec, horizon: int, posteriors: int) -> Work:
        trainings = horizon // self.refit_every
        return network_work(
            spec,
            horizon,
            layers=self.hidden_layers,
            training_steps=self.training_steps(horizon),
            batch_size=self.batch_size,
            networks=self.networks,
            trainings=trainings,
            posteriors=posteriors,
            width=self.dim(spec),
        )

    def training_steps(self, horizon: int) -> int:
        """The updates of a trial."""
        return horizon // self.refit_every * self.refit_every

    def _direction(self) -> optax.GradientTransformation:
        return optax.chain(optax.scale_by_adam(), optax.add_decayed_weights(self.weight_decay))


def check_one_network(features: Features, whose: str) -> None:
    """Raise UsageError for features of several networks, where a method looks into its one."""
    if isinstance(features, NetworkFeatures) and features.several:
        raise UsageError(
            f"{whose} works on one network, and {type(features).__name__} has several; DropoutFeatures has one"
        )


def network_inputs(scale: ContextScale, inputs: jax.Array) -> jax.Array:
    """What the network sees of inputs (…, input_dim): (…, input_dim + 1)."""
    return _inputs(scaled_design(scale, inputs))


def _inputs(plain: jax.Array) -> jax.Array:
    """What the network sees: the scaled context with a root mean square of one per feature, and the constant."""
    context, constant = plain[..., :-1], plain[..., -1:]
    return jnp.concatenate([context * jnp.sqrt(jnp.float32(context.shape[-1])), constant], axis=-1)


def he_network(key: jax.Array, layers: list[tuple[int, int]], layer_norm: bool) -> Network:
    """Normal weights of variance 2 / inputs (He et al. 2015), biases zero."""
    flat = jax.random.normal(key, (total(list(layers)),))
    last = len(layers) - 1
    return tuple(
        network.Layer(
            weights * jnp.sqrt(2.0 / inputs),
            jnp.zeros(outputs),
            jnp.ones(outputs) if layer_norm and index < last else None,
        )
        for index, (weights, (inputs, outputs)) in enumerate(zip(cut(flat, list(layers)), layers, strict=True))
    )
