"""What the two variational families share: a network of independent Gaussian weights, trained by Adam, drawn to decide.

The first trainings are long: training number j = 0 … J−1 takes ⌊linspace(first, last, J)[j]⌋ steps, with J =
`decaying_trainings`, and every later one takes `training_steps`. A decision draws one network; since each draw serves
one context, it is made as one draw per unit instead of one per weight.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import optax

from showdown.config import at_least, config, integers, log, param, positive
from showdown.policies.shared.neural import BRIEF_STEPS, NeuralPolicy
from showdown.posteriors import training, variational
from showdown.posteriors.training import Fit
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Batch, History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work, network_work

STRIDE = 25  # most steps of a training between two looks at whether it is done


class NetworkBelief(NamedTuple):
    layers: variational.MeanField
    noise: variational.LearnedNoise | None  # where the noise is learned


@config
class VariationalPolicy(NeuralPolicy):
    learning_rate: float = param(0.001, "of Adam, constant", positive, log(1e-5, 0.1))
    initial_training_steps: int = param(
        10_000, "optimiser steps of the first training", at_least(1), integers(100, 20_000), small=3
    )
    decaying_trainings: int = param(
        100, "trainings over which the number of steps falls to training_steps", at_least(1), integers(1, 200)
    )
    noise: float = param(
        0.1, "σ: standard deviation of rewards, or its initial value where it is learned", positive, log(1e-3, 10)
    )

    def begin(self, key: jax.Array, spec: ProblemSpec, *, random_biases: bool, learned_noise: bool) -> Fit:
        layers = variational.init(role_key(key, "layers"), self.sizes(spec), random_biases)
        noise = variational.init_noise(role_key(key, "noise"), spec.num_actions) if learned_noise else None
        return training.begin(NetworkBelief(layers, noise), optax.scale_by_adam())

    @abstractmethod
    def loss(self, key: jax.Array, belief: NetworkBelief, batch: Batch, points: jax.Array) -> jax.Array:
        """What training minimises, on one batch out of `points` steps in all."""

    def scores(self, key: jax.Array, state: Fit, situation: Situation) -> jax.Array:
        return variational.predict_locally(key, state.parameters.layers, situation.context)

    def refit(self, key: jax.Array, state: Fit, history: History) -> Fit:
        points = history.count.astype(jnp.float32)
        # the training's number is read off the clock, not off the state: a counter in the state would be batched over
        # trials, and the loop below with it
        steps = decaying_steps(
            history.count // self.refit_every - 1,
            first=self.initial_training_steps,
            last=self.training_steps,
            trainings=self.decaying_trainings,
        )
        with training.precision_scope(self.training_precision):
            return training.train(
                key,
                state,
                steps,
                draw=self.batches(history),
                loss=lambda key, belief, batch: self.loss(key, belief, batch, points),
                direction=optax.scale_by_adam(),
                rate=lambda updates: jnp.asarray(self.learning_rate, jnp.float32),
                stride=min(STRIDE, self.training_steps),
            )

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        usual, trainings = self.training_steps, self.trainings(horizon)
        longer = first_steps(self.initial_training_steps, usual, self.decaying_trainings)
        return network_work(
            spec,
            horizon,
            layers=self.hidden_layers,
            training_steps=int(longer[:trainings].sum()) + usual * max(0, trainings - len(longer)),
            batch_size=self.batch_size,
            draws=self.draws,
        )

    @property
    def draws(self) -> int:
        """Networks that are drawn for each step of a training."""
        return 1

    def brief(self) -> Self:
        return replace(super().brief(), initial_training_steps=min(BRIEF_STEPS, self.initial_training_steps))

    def noise_of(self, key: jax.Array, belief: NetworkBelief, actions: jax.Array) -> jax.Array:
        """The noise deviation of each example's own action: given, or one draw of the learned one per action."""
        if belief.noise is None:
            return jnp.full(actions.shape, self.noise, jnp.float32)
        return variational.draw_noise(key, belief.noise, self.noise)[actions]


def first_steps(first: int, last: int, trainings: int) -> np.ndarray:
    """Steps of the trainings 0 … J−1."""
    return np.linspace(first, last, trainings).astype(np.int32)


def decaying_steps(number: jax.Array, *, first: int, last: int, trainings: int) -> jax.Array:
    """Steps of training `number` (counted from 0), an int32 scalar."""
    table = np.append(first_steps(first, last, trainings), np.int32(last))
    return jnp.asarray(table)[jnp.minimum(number, trainings)]
