"""How long a plan should take: from what the store has measured, else from a rough count of operations."""

from __future__ import annotations

import itertools
import math
from typing import Any

from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.config import all_fields
from showdown.errors import MissingDataError
from showdown.problem import ProblemSpec

COMPILE_SECONDS = 4.0  # a new kind of program, on a small CPU
STEP_SECONDS = 5e-7  # per trial and step, for the loop itself
OPERATIONS_PER_SECOND = 2e9  # of one step's small products
TRAINING_OPERATIONS_PER_SECOND = 2e10  # of mini-batch products


def estimate_seconds(cells: list[Cell], store: Store) -> tuple[float, int]:
    """Seconds for all of `cells` together, and for how many of them that rests on measured rates."""
    measured = _measured_rates(store)
    total, known, kinds = 0.0, 0, set()
    for cell in cells:
        trial_steps = cell.trials * cell.problem.horizon
        rate = measured.get((cell.policy_name, cell.problem_name))
        known += rate is not None
        total += trial_steps * (rate if rate is not None else _rough_rate(cell))
        kinds.add((_static(cell.policy), _static(cell.problem)))
    return total + COMPILE_SECONDS * len(kinds), known


def _static(value: Any) -> str:
    import jax

    return str(jax.tree.structure(value))


def _measured_rates(store: Store) -> dict[tuple[str, str], float]:
    rates = {}
    for record in store.cells():
        if record["status"] == "done":
            rate = record["run_seconds"] / (record["trials"] * record["horizon"])
            rates[record["policy"], record["problem"]] = rate
    return rates


def _rough_rate(cell: Cell) -> float:
    """Seconds per trial and step: a product per action, and the training the policy's fields describe."""
    try:
        spec = cell.problem.spec(cell.problem.load())
    except MissingDataError:  # it will be skipped
        return 0.0
    fields = all_fields(cell.policy)
    if "batch_size" in fields and "refit_every" in fields:
        return STEP_SECONDS + _training_operations(fields, spec) / TRAINING_OPERATIONS_PER_SECOND
    products = spec.num_actions * (spec.context_dim + 1) ** 2 if fields else 0
    return STEP_SECONDS + 4 * products / OPERATIONS_PER_SECOND


def _training_operations(fields: dict[str, Any], spec: ProblemSpec) -> float:
    sizes = (spec.context_dim, *fields.get("hidden_layers", ()), spec.num_actions)
    weights = sum(math.prod(pair) for pair in itertools.pairwise(sizes))
    steps = fields.get("training_steps", 1) * fields.get("num_networks", 1)
    return 6 * weights * fields["batch_size"] * steps / max(1, fields["refit_every"])
