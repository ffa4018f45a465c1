"""The cost model: how much work a cell is, counted from its configuration alone, the same on every machine.

What a trial does is its steps, each with a fixed cost of the loop, and floating-point operations: products of a
posterior per action and step, training steps of networks or kernels, and passes over the past. docs/performance.md says
what doubles when a size doubles.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from showdown.beliefs.dropout_features import EARLY
from showdown.bench.cell import Cell
from showdown.config import all_fields, core, to_json
from showdown.errors import MissingDataError
from showdown.posteriors.schedule import first_steps
from showdown.problem import ProblemSpec


class Rates(NamedTuple):
    """Seconds of one step and of one operation, in one trial, on one core or one accelerator."""

    step: float
    operation: float


class Work(NamedTuple):
    """Of all trials of a cell, once their episodes have begun."""

    steps: float  # of the loop; of training, where a policy trains: they cost far more
    operations: float

    def seconds(self, rates: Rates) -> float:
        return self.steps * rates.step + self.operations * rates.operation


COMPILE_SECONDS = 4.0  # a new kind of program, on a small CPU
TRAINING_COMPILE_SECONDS = 3.0  # more, where it trains
POSTERIOR_COMPILE_SECONDS = 5.5  # and for each posterior that is refitted on the features of a network
_STEP_SECONDS = 5e-7
LINEAR, NETWORK, PROCESS = "linear", "network", "process"
ROUGH = {  # on a small CPU: small products of a posterior, mini-batches, a Gaussian process in float64
    LINEAR: Rates(_STEP_SECONDS, 1 / 2e9),
    NETWORK: Rates(1e-4, 1 / 8e10),
    PROCESS: Rates(_STEP_SECONDS, 1 / 3e10),
}


def family(cell: Cell) -> str:
    """Cells of one family have the same rates: the same code, whatever its sizes."""
    covariance = all_fields(cell.policy).get("covariance", "")
    return f"{type(core(cell.policy)).__name__} {covariance}".strip()


def rough_rates(cell: Cell) -> Rates:
    return ROUGH[_kind(all_fields(cell.policy))]


def rough_compile_seconds(cell: Cell) -> float:
    """Of a program's size: what trains is larger, and the factorisations of posteriors are most of it."""
    fields = all_fields(cell.policy)
    if _kind(fields) == LINEAR:
        return COMPILE_SECONDS
    posteriors = str(to_json(cell.policy)).count("'prior_precision'")  # a policy may hold several
    return COMPILE_SECONDS + TRAINING_COMPILE_SECONDS + posteriors * POSTERIOR_COMPILE_SECONDS


def work_of(cell: Cell) -> Work:
    try:
        spec = cell.problem.spec(cell.problem.load())
    except MissingDataError:  # it will be skipped
        return Work(0.0, 0.0)
    return counted(all_fields(cell.policy), spec, cell.problem.horizon, cell.trials)


def shuffled_rows(cell: Cell) -> tuple[str, int]:
    """What an episode of the cell begins with: the rows of a table in an order of its own. 0 for generated problems."""
    try:
        return type(cell.problem).__name__, cell.problem.longest(cell.problem.load()) or 0
    except MissingDataError:
        return type(cell.problem).__name__, 0


def counted(fields: dict[str, Any], spec: ProblemSpec, horizon: int, trials: int) -> Work:
    """Of a policy with these fields."""
    kind = _kind(fields)
    operations = {LINEAR: _linear, NETWORK: _network, PROCESS: _process}[kind](fields, spec, horizon)
    steps = horizon if kind == LINEAR else _training_steps(fields, horizon) * fields.get("num_networks", 1)
    return Work(float(trials * steps), float(trials * operations))


def _kind(fields: dict[str, Any]) -> str:
    if fields.get("max_points") or fields.get("num_inducing"):
        return PROCESS
    return NETWORK if "batch_size" in fields and "refit_every" in fields else LINEAR


def _linear(fields: dict[str, Any], spec: ProblemSpec, horizon: int) -> float:
    """A product with the root of each action's posterior in every step."""
    return 4 * horizon * spec.num_actions * (spec.context_dim + 1) ** 2 if fields else 0


def _network(fields: dict[str, Any], spec: ProblemSpec, horizon: int) -> float:
    """Training; and for a posterior on the last layer, the features and products of all past steps at each refit."""
    networks = fields.get("num_networks", 1) * fields.get("samples", 1)
    weights = _weights(fields, spec)
    training = _training_steps(fields, horizon) * networks * 6 * fields["batch_size"] * weights
    if "prior_precision" not in fields:
        return training
    trainings, width = horizon // max(1, fields["refit_every"]), (*fields.get("hidden_layers", ()), spec.context_dim)[0]
    steps = horizon * 4 * spec.num_actions * width**2
    return training + trainings * horizon / 2 * (2 * weights + 2 * width**2) + steps


def _process(fields: dict[str, Any], spec: ProblemSpec, horizon: int) -> float:
    """Factorisations of kernels in training, a triangular solve in every step. Exact, or sparse."""
    size = fields.get("max_points") or fields.get("num_inducing")
    assert size is not None
    per_step = 12 * size**3 + 8 * fields["batch_size"] * size**2 if "num_inducing" in fields else 4 * size**3
    return _training_steps(fields, horizon) * per_step + horizon * (spec.num_actions + 4) * size**2


def _weights(fields: dict[str, Any], spec: ProblemSpec) -> int:
    sizes = (spec.context_dim, *fields.get("hidden_layers", ()), spec.num_actions)
    return sum(math.prod(pair) for pair in itertools.pairwise(sizes))


def _training_steps(fields: dict[str, Any], horizon: int) -> int:
    """Optimiser steps of one trial: more in the first trainings of some, none in the last of others.

    Features of a network (`beliefs/network_features.py`) are trained one step for each context, those with dropout more
    often while there is little data.
    """
    usual = fields.get("training_steps", max(1, fields["refit_every"]))
    trainings = min(horizon, fields.get("train_until") or horizon) // max(1, fields["refit_every"])
    longer = first_steps(fields.get("initial_training_steps", usual), usual, fields.get("decaying_trainings", 1))
    early = fields.get("early_training", 0.0) * EARLY * math.log1p(horizon / EARLY)
    return int(longer[:trainings].sum() + early) + usual * max(0, trainings - len(longer))
