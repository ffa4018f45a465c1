"""How long cells should take: from what the store has measured, else from a rough count of operations on a CPU."""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax

from showdown.bench.cell import Cell
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.config import all_fields
from showdown.errors import MissingDataError
from showdown.posteriors.schedule import first_steps
from showdown.problem import ProblemSpec

COMPILE_SECONDS = 4.0  # a new kind of program, on a small CPU
STEP_SECONDS = 5e-7  # per trial and step, for the loop itself
OPERATIONS_PER_SECOND = 2e9  # of one step's small products
NETWORK_OPERATIONS_PER_SECOND = 8e10  # of mini-batch products
PROCESS_OPERATIONS_PER_SECOND = 3e10  # of a Gaussian process's products, in float64


def estimate_seconds(cells: list[Cell], store: Store) -> tuple[float, int]:
    """Seconds for all of `cells` together, and for how many of them that rests on measured rates."""
    measured = _measured_rates(store)
    kinds = {(_static(cell.policy), _static(cell.problem)) for cell in cells}
    known = sum(_names(cell) in measured for cell in cells)
    return sum(_seconds(cell, measured) for cell in cells) + COMPILE_SECONDS * len(kinds), known


def seconds_of_each(cells: list[Cell], store: Store) -> dict[str, float]:
    """Seconds of every cell by its hash, with compiling for the first one of each kind of program."""
    measured = _measured_rates(store)
    seen: set[tuple[str, str]] = set()
    seconds = {}
    for cell in cells:
        kind = _static(cell.policy), _static(cell.problem)
        seconds[cell.hash] = _seconds(cell, measured) + (COMPILE_SECONDS if kind not in seen else 0.0)
        seen.add(kind)
    return seconds


def rough_seconds(cell: Cell) -> float:
    """From the count of operations alone, compiling included: the same on every machine that has the data."""
    return cell.trials * _rough_trial(cell) + COMPILE_SECONDS


def longest_first(planned: list[Planned], store: Store) -> list[Planned]:
    """In this order cells that share a machine end at about the same time."""
    measured = _measured_rates(store)
    return sorted(planned, key=lambda item: _seconds(item.cell, measured), reverse=True)


def _seconds(cell: Cell, measured: dict[tuple[str, str], float]) -> float:
    """To play it, once compiled."""
    trial_steps = cell.trials * cell.problem.horizon
    rate = measured.get(_names(cell))
    return trial_steps * rate if rate is not None else cell.trials * _rough_trial(cell)


def _names(cell: Cell) -> tuple[str, str]:
    return cell.policy_name, cell.problem_name


def _static(value: Any) -> str:
    return str(jax.tree.structure(value))


def _measured_rates(store: Store) -> dict[tuple[str, str], float]:
    rates = {}
    for record in store.cells():
        if record.is_done:
            rates[record.policy, record.problem] = record.run_seconds / (record.trials * record.horizon)
    return rates


def _rough_trial(cell: Cell) -> float:
    """Seconds of one trial: a product per action and step, and the training that the policy's fields describe."""
    try:
        spec = cell.problem.spec(cell.problem.load())
    except MissingDataError:  # it will be skipped
        return 0.0
    fields, horizon = all_fields(cell.policy), cell.problem.horizon
    size = fields.get("max_points") or fields.get("num_inducing")
    if size:  # a Gaussian process, exact or sparse
        per_step = 12 * size**3 + 8 * fields["batch_size"] * size**2 if "num_inducing" in fields else 4 * size**3
        operations = _training_steps(fields, horizon) * per_step + horizon * (spec.num_actions + 4) * size**2
        return horizon * STEP_SECONDS + operations / PROCESS_OPERATIONS_PER_SECOND
    if "batch_size" in fields and "refit_every" in fields:
        networks = fields.get("num_networks", 1) * fields.get("samples", 1)
        training = _training_steps(fields, horizon) * networks * 6 * fields["batch_size"] * _weights(fields, spec)
        return horizon * STEP_SECONDS + training / NETWORK_OPERATIONS_PER_SECOND
    products = spec.num_actions * (spec.context_dim + 1) ** 2 if fields else 0
    return horizon * (STEP_SECONDS + 4 * products / OPERATIONS_PER_SECOND)


def _weights(fields: dict[str, Any], spec: ProblemSpec) -> int:
    sizes = (spec.context_dim, *fields.get("hidden_layers", ()), spec.num_actions)
    return sum(math.prod(pair) for pair in itertools.pairwise(sizes))


def _training_steps(fields: dict[str, Any], horizon: int) -> int:
    """Optimiser steps of one trial: more in the first trainings of some, none in the last of others."""
    usual = fields.get("training_steps", 1)
    trainings = min(horizon, fields.get("train_until") or horizon) // max(1, fields["refit_every"])
    longer = first_steps(fields.get("initial_training_steps", usual), usual, fields.get("decaying_trainings", 1))
    return int(longer[:trainings].sum()) + usual * max(0, trainings - len(longer))
