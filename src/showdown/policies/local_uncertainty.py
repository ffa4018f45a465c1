"""LU-Gauss: uncertainty in a latent variable of each context instead of in the weights of a network.

A context x has a latent vector z with belief q(z|x) = N(m(x), diag s(x)²), given by a network, and prior N(0, p²I). A
second network T predicts the rewards of all actions from [z, x], with noise σ_a. Both networks, p and σ are trained on
the bound  k·log N(r_a | T(z, x)_a, σ_a²) − w·KL(q ‖ prior),  one z per row. A decision draws one z and plays the best
prediction, so the draw is the exploration. It is drawn anew for every context and does not concentrate as data come in,
except as far as the networks learn to make s small.

Reference: Wang, Zhou, "Thompson Sampling via Local Uncertainty", ICML 2020.

Differences from the paper and the released code
1. The learning rate is the released 2e-4 (in the text 1e-3) and p starts at the released 1 (in the text 1.25).
2. KL has its closed form; the released code takes it from the same z.
3. σ_a is kept as its logarithm; released, it is a number that may turn negative.
4. The factor k of the fit is the released code's, and so is w = min(trainings/15, 1).

`scaled` divides rewards by their root mean square, so that σ, which starts at 0.5, has no unit: `LU-Gauss-Scaled`.

Cost per step two small networks; per refit training_steps·batch_size·weights·6 operations; memory three copies of both
networks per trial.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from showdown.config import at_least, config, integers, log, param, positive, sizes
from showdown.policies.registry import policies
from showdown.policies.rules import BestMean
from showdown.policies.shared.neural import NeuralPolicy
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network, training
from showdown.posteriors.network import Layer, Network
from showdown.posteriors.training import Fit
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch, Situation
from showdown.protocol.work import Work

FIRST_NOISE = 0.5  # σ of every action
FULL_DIVERGENCE = 15  # trainings after which the divergence counts fully


class Model(NamedTuple):
    encoder: Network  # x → [m, log s²]
    decoder: Network  # [z, x] → rewards
    log_prior: jax.Array  # () log p
    log_noise: jax.Array  # (num_actions,) log σ


class LocalState(NamedTuple):
    fit: Fit  # of a `Model`
    unit: jax.Array  # () what rewards were divided by in training


@config
class LocalUncertainty(NeuralPolicy):
    """A latent variable per context carries the uncertainty; a draw of it decides."""

    reference = "Wang, Zhou 2020, https://proceedings.mlr.press/v119/wang20ab.html"
    hidden_layers: tuple[int, ...] = param((100, 50), "units of each hidden layer, of both networks", sizes, small=(4,))
    latent: int = param(50, "numbers of z", at_least(1), integers(5, 100), small=3)
    training_steps: int = param(40, "optimiser steps per training", at_least(1), integers(10, 1000), small=2)
    learning_rate: float = param(2e-4, "of Adam, constant", positive, log(1e-5, 1e-2))
    prior_deviation: float = param(1.0, "p, at first", positive, log(0.1, 10))
    scaled: bool = param(False, "divide rewards by their root mean square")

    def init(self, key: jax.Array, spec: ProblemSpec) -> LocalState:
        encoder = network.layer_sizes(spec.context_dim, self.hidden_layers, 2 * self.latent)
        decoder = network.layer_sizes(self.latent + spec.context_dim, self.hidden_layers, spec.num_actions)
        model = Model(
            glorot(role_key(key, "encoder"), encoder),
            glorot(role_key(key, "decoder"), decoder),
            jnp.log(jnp.asarray(self.prior_deviation, jnp.float32)),
            jnp.full(spec.num_actions, jnp.log(FIRST_NOISE)),
        )
        return LocalState(training.begin(model, optax.scale_by_adam()), jnp.float32(1.0))

    def encode(self, model: Model, contexts: jax.Array) -> tuple[jax.Array, jax.Array]:
        """m and log s² of the latent vectors, both (…, latent)."""
        mean, log_variance = jnp.split(network.predict(model.encoder, contexts), 2, axis=-1)
        return mean, log_variance

    def decode(self, model: Model, latents: jax.Array, contexts: jax.Array) -> jax.Array:
        """Predictions for all actions, (…, num_actions)."""
        return network.predict(model.decoder, jnp.concatenate([latents, contexts], axis=-1))

    def draw(self, key: jax.Array, model: Model, contexts: jax.Array) -> jax.Array:
        """Predictions for all actions with one draw of each context's latent vector, (…, num_actions)."""
        mean, log_variance = self.encode(model, contexts)
        latents = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
        return self.decode(model, latents, contexts)

    def scores(self, key: jax.Array, state: LocalState, situation: Situation) -> jax.Array:
        return state.unit * self.draw(key, state.fit.parameters, situation.context)

    def means(self, key: jax.Array, state: LocalState, situation: Situation) -> jax.Array:
        """The predictions at the mean of the latent vector."""
        model = state.fit.parameters
        mean, _ = self.encode(model, situation.context)
        return state.unit * self.decode(model, mean, situation.context)

    def bound(self, key: jax.Array, model: Model, batch: Batch, unit: jax.Array, weight: jax.Array) -> jax.Array:
        """The mean over the rows of a batch of what training raises, ()."""
        mean, log_variance = self.encode(model, batch.contexts)
        latents = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
        predicted = batch.played(self.decode(model, latents, batch.contexts))
        log_noise = batch.played(jnp.broadcast_to(model.log_noise, (*batch.rewards.shape, len(model.log_noise))))
        fit = -0.5 * ((batch.rewards / unit - predicted) / jnp.exp(log_noise)) ** 2 - log_noise
        ratio = log_variance - 2 * model.log_prior
        doubt = 0.5 * jnp.sum((mean / jnp.exp(model.log_prior)) ** 2 + jnp.exp(ratio) - 1 - ratio, axis=-1)
        return jnp.mean(len(model.log_noise) * fit - weight * doubt)

    def refit(self, key: jax.Array, state: LocalState, history: History) -> LocalState:
        unit = self._unit(history) if self.scaled else state.unit
        # from the clock: the same for all trials
        trainings = (history.first + history.count) // self.refit_every - 1
        weight = jnp.minimum(trainings.astype(jnp.float32) / FULL_DIVERGENCE, 1.0)
        draw = self.batches(history)
        with training.precision_scope(self.training_precision):
            fit = training.train(
                role_key(key, "train"),
                state.fit,
                self.training_steps,
                draw=draw,
                loss=lambda key, model, batch: -self.bound(key, model, batch, unit, weight),
                direction=optax.scale_by_adam(),
                rate=lambda updates: jnp.asarray(self.learning_rate, jnp.float32),
            )
            batch = draw(role_key(key, "check batch"))
            predicted = unit * batch.played(self.draw(role_key(key, "check"), fit.parameters, batch.contexts))
            error = training.mean_squared_error(predicted, batch.rewards)
        parameters = training.or_nan_if_diverged(fit.parameters, error, batch.rewards)
        return LocalState(fit._replace(parameters=parameters), unit)

    def _unit(self, history: History) -> jax.Array:
        """The root mean square reward so far, ()."""
        seen = jnp.arange(len(history.rewards)) < history.count
        square = jnp.sum(jnp.where(seen, history.rewards, 0.0) ** 2) / jnp.maximum(history.count, 1).astype(jnp.float32)
        return jnp.where(square > 0, jnp.sqrt(square), 1.0)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        work = super().work(spec, horizon)
        return work._replace(operations=2.5 * work.operations)  # two networks, the second with more inputs


def glorot(key: jax.Array, sizes: list[tuple[int, int]]) -> Network:
    """Uniform weights on ± √(6 / (inputs + outputs)), biases zero."""
    return tuple(
        Layer(layer.weights * jnp.sqrt(6.0 / sum(size)), layer.bias)
        for layer, size in zip(network.init(key, sizes, 1.0), sizes, strict=True)
    )


_local = LocalUncertainty()
policies.add("LU-Gauss", WarmUp(inner=_local, pulls=2))
policies.add("LU-Gauss-Greedy", WarmUp(inner=BestMean(inner=_local), pulls=2), base="LU-Gauss")
policies.add(
    "LU-Gauss-Scaled", WarmUp(inner=LocalUncertainty(scaled=True, learning_rate=1e-3), pulls=2), base="LU-Gauss"
)
