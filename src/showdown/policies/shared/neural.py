"""What every neural policy shares: the sizes of its network, and training on mini-batches of all it has seen.

Batches are drawn by index, uniformly and with replacement, from all steps so far, and are always full size. After every
`refit_every` steps the policy takes `training_steps` optimiser steps from where it stands; in between its belief does
not move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Self

import jax

from showdown.config import at_least, choices, config, integers, param, sizes
from showdown.policies.registry import PAPER
from showdown.posteriors import network
from showdown.posteriors.training import Precision, precision_scope
from showdown.protocol.policy import Batch, History, State, Thompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work, network_work

BRIEF_STEPS = 20  # of a training that is only timed


@config
class NeuralPolicy(Thompson):
    reference = PAPER
    relearns_at_refits = True
    posteriors: ClassVar[int] = 0  # regressions on the last layer, which are rebuilt at each training
    hidden_layers: tuple[int, ...] = param(
        (100, 100),
        "units of each hidden layer; none makes a linear model",
        sizes,
        choices((), (50,), (100,), (50, 50), (100, 100)),
        small=(4,),
    )
    training_steps: int = param(100, "t_s: optimiser steps per training", at_least(1), integers(10, 1000), small=2)
    refit_every: int = param(20, "t_f: contexts between trainings", at_least(1), integers(5, 100), small=6)
    batch_size: int = param(512, "B: examples per optimiser step", at_least(1), integers(32, 1024), small=8)
    training_precision: Precision = param("default", "of the network's matrix products: default is TF32 on a GPU")

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        with precision_scope(self.training_precision):  # decisions as exact as training
            return super().act(key, state, situation)

    def sizes(self, spec: ProblemSpec) -> list[tuple[int, int]]:
        return network.layer_sizes(spec.input_dim, self.hidden_layers, spec.num_outputs)

    def batches(self, history: History) -> Callable[[jax.Array], Batch]:
        """A draw of one mini-batch from all of `history`."""
        return lambda key: history.sample(key, self.batch_size)

    def trainings(self, horizon: int) -> int:
        """How many trainings a trial has."""
        return horizon // max(1, self.refit_every)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return network_work(
            spec,
            horizon,
            layers=self.hidden_layers,
            training_steps=self.training_steps * self.trainings(horizon),
            batch_size=self.batch_size,
            trainings=self.trainings(horizon),
            posteriors=self.posteriors,
        )

    def brief(self) -> Self:
        return replace(self, training_steps=min(BRIEF_STEPS, self.training_steps))
