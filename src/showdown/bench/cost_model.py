"""The cost model: seconds from the work that a policy says a trial is (`Policy.work`).

What a trial does is its steps, each with a fixed cost of the loop, and floating-point operations: products of a
posterior per action and step, training steps of networks or kernels, and passes over the past. docs/performance.md says
what doubles when a size doubles.
"""

from __future__ import annotations

from typing import NamedTuple

from showdown.basics.errors import MissingDataError
from showdown.bench.cell import Cell
from showdown.config import all_fields, core
from showdown.protocol.feedback import AT_ONCE
from showdown.protocol.work import Kind, Work


class Rates(NamedTuple):
    """Seconds of one step and of one operation, in one trial, on one core or one accelerator."""

    step: float
    operation: float


COMPILE_SECONDS = 4.0  # a new kind of program, on a small CPU
TRAINING_COMPILE_SECONDS = 3.0  # more, where it trains
POSTERIOR_COMPILE_SECONDS = 5.5  # and for each posterior that is refitted on the features of a network
_STEP_SECONDS = 5e-7
LATE_STEPS = 2.0  # a step takes as many times longer where its reward must be looked up later; training is no slower
ROUGH: dict[Kind, Rates] = {  # on a small CPU
    "linear": Rates(_STEP_SECONDS, 1 / 2e9),
    "network": Rates(1e-4, 1 / 8e10),
    "process": Rates(_STEP_SECONDS, 1 / 3e10),
}


def family(cell: Cell) -> str:
    """Cells of one family have the same rates: the same code, whatever its sizes."""
    covariance = all_fields(cell.policy).get("covariance", "")
    return f"{type(core(cell.policy)).__name__} {covariance}".strip()


def work_of(cell: Cell) -> Work:
    """What all trials of a cell do, once their episodes have begun."""
    try:
        spec = cell.problem.spec(cell.problem.load())
    except MissingDataError:  # it will be skipped
        return Work("linear", 0.0, 0.0)
    work = cell.policy.work(spec, cell.problem.horizon).times(cell.trials)
    if work.kind == "linear" and cell.problem.feedback != AT_ONCE:
        return work._replace(steps=LATE_STEPS * work.steps)
    return work


def seconds(work: Work, rates: Rates | None = None) -> float:
    """How long that takes; at rough rates where none are given."""
    rates = rates or ROUGH[work.kind]
    return work.steps * rates.step + work.operations * rates.operation


def compile_seconds(work: Work) -> float:
    """How long compiling takes, roughly: what trains is larger, and factorisations of posteriors are most of it."""
    if work.kind == "linear":
        return COMPILE_SECONDS
    return COMPILE_SECONDS + TRAINING_COMPILE_SECONDS + work.posteriors * POSTERIOR_COMPILE_SECONDS


def shuffled_rows(cell: Cell) -> tuple[str, int]:
    """What an episode of the cell begins with: the rows of a table in an order of its own. 0 for generated problems."""
    try:
        return type(cell.problem).__name__, cell.problem.longest(cell.problem.load()) or 0
    except MissingDataError:
        return type(cell.problem).__name__, 0
