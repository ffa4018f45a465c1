"""What every neural policy shares: the sizes of its network, and training on mini-batches of all it has seen.

Batches are drawn by index, uniformly and with replacement, from all steps so far, and are always full size. After every
`refit_every` steps the policy takes `training_steps` optimiser steps from where it stands; in between its belief does
not move. This is not a family itself and has no presets.
"""

from __future__ import annotations

from collections.abc import Callable

import jax

from showdown.config import config
from showdown.errors import UsageError
from showdown.policy import Batch, History, State, Thompson
from showdown.posteriors import network
from showdown.posteriors.training import Precision, precision_scope
from showdown.problem import ProblemSpec

PAPER = "Riquelme, Tucker, Snoek 2018, https://arxiv.org/abs/1802.09127"


@config
class NeuralPolicy(Thompson):
    reference = PAPER
    hidden_layers: tuple[int, ...] = (100, 100)  # units of each hidden layer; none makes a linear model
    training_steps: int = 100  # t_s: optimiser steps per training
    refit_every: int = 20  # t_f: contexts between trainings
    batch_size: int = 512  # B: examples per optimiser step
    training_precision: Precision = "default"  # of the network's matrix products: default is TF32 on a GPU

    def check(self) -> None:
        for name in ("training_steps", "refit_every", "batch_size"):
            at_least(name, getattr(self, name), 1)
        for units in self.hidden_layers:
            if not isinstance(units, int) or units < 1:
                raise UsageError(f"hidden_layers must hold whole numbers of at least 1, not {units!r}")

    def act(self, key: jax.Array, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
        with precision_scope(self.training_precision):  # decisions as exact as training
            return super().act(key, state, context, step)

    def sizes(self, spec: ProblemSpec) -> list[tuple[int, int]]:
        return network.layer_sizes(spec.context_dim, self.hidden_layers, spec.num_actions)

    def batches(self, history: History) -> Callable[[jax.Array], Batch]:
        """A draw of one mini-batch from all of `history`."""
        return lambda key: history.sample(key, self.batch_size)


def at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value}")


def positive(name: str, value: float) -> None:
    if not value > 0:
        raise UsageError(f"{name} must be positive, not {value}")


def fraction(name: str, value: float, what: str) -> None:
    if not 0 < value <= 1:
        raise UsageError(f"{name} is {what} and must lie in (0, 1], not {value}")


def probability(name: str, value: float) -> None:
    fraction(name, value, "a probability")
