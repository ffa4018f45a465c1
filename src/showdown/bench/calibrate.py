"""Measuring how fast this machine is: short runs of each family of policies on generated problems of two sizes, and the
beginning of an episode of each problem that has data.

The rates are kept in the cache folder, for each kind of device, and every estimate uses them.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy.optimize import nnls

from showdown import __version__
from showdown.basics.errors import MissingDataError
from showdown.basics.files import cache_folder, write_atomically
from showdown.bench.cell import Cell
from showdown.bench.cost_model import Rates, family, seconds
from showdown.machine.resources import cores
from showdown.play.batch_size import FEWEST_TRAINING, cores_at_play
from showdown.play.over_trials import begin_episodes
from showdown.play.simulate import simulate
from showdown.problems.linear import Linear
from showdown.protocol.keys import trial_keys
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem, ProblemSpec
from showdown.tricks.threads import hangs_in_threads

FORMAT = 2  # of the file; to be raised when its numbers mean something else
TARGET_SECONDS = 0.5  # of one short run, by the rough count
BEGINNINGS = 4  # episodes that are timed together
LARGEST_CONTEXT = 128  # that is measured; more of it is more of the same products


@dataclass(frozen=True)
class Measured:
    rates: Rates
    compile: float  # seconds


Calibration = dict[str, Measured]  # by family; the beginning of an episode of a problem is in it too, as one step


def this_machine() -> str:
    return jax.local_devices()[0].device_kind


def _key() -> str:
    """What rates depend on, and how they are written: those of anything else are not read."""
    versions = f"format {FORMAT}, showdown {__version__}, jax {jax.__version__}"
    return f"{this_machine()}, {cores()} cores, {versions}"


def _file() -> Path:
    return cache_folder() / "rates.json"


def calibration() -> Calibration:
    """What was measured on this kind of machine; empty if nothing was, or if the file is none of ours."""
    try:
        kept = json.loads(_file().read_text())[_key()].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: measured for name, item in kept if (measured := _read(item)) is not None}


def _read(item: Any) -> Measured | None:
    """What `_keep` wrote; None for anything else."""
    try:
        found = Measured(Rates(*map(float, item["rates"])), float(item["compile"]))
    except (ValueError, KeyError, TypeError):
        return None
    return found if all(math.isfinite(each) and each >= 0 for each in (*found.rates, found.compile)) else None


def calibrate(cells: list[Cell]) -> Iterator[tuple[str, Measured]]:
    """Measure every family and problem among `cells`, and keep its rates; yields each as soon as it is known."""
    for problem in {type(cell.problem): cell.problem for cell in cells}.values():
        started = _measure_beginning(problem)
        if started is not None:
            _keep(beginning(type(problem).__name__), started)
            yield beginning(type(problem).__name__), started
    sizes = _sizes(cells)
    for name, cell in _first_of_each(cells).items():
        measured = _measure(cell, sizes)
        _keep(name, measured)
        yield name, measured


def beginning(problem_kind: str) -> str:
    """What a problem goes by among the families."""
    return f"an episode of {problem_kind}"


def _measure_beginning(problem: Problem) -> Measured | None:
    """Seconds of one trial, all of whose rows are put in an order of its own; None for a generated problem."""
    try:
        tables = jax.device_put(problem.load())
    except MissingDataError:
        return None
    if not problem.longest(tables):
        return None
    keys = trial_keys(0, type(problem).__name__, range(BEGINNINGS), "problem")
    began = time.perf_counter()
    begin = jax.jit(partial(begin_episodes, problem)).lower(tables, keys).compile()
    compile_seconds = time.perf_counter() - began
    # as many at the same time as in a run, where they share the memory
    lanes = cores() if jax.default_backend() == "cpu" and not hangs_in_threads(begin) else 1
    jax.block_until_ready(begin(tables, keys))
    began = time.perf_counter()
    with ThreadPoolExecutor(lanes) as pool:
        list(pool.map(lambda _: jax.block_until_ready(begin(tables, keys)), range(lanes)))
    return Measured(Rates((time.perf_counter() - began) / BEGINNINGS, 0.0), compile_seconds)


def _first_of_each(cells: list[Cell]) -> dict[str, Cell]:
    first: dict[str, Cell] = {}
    for cell in cells:
        if not cell.policy.in_python:  # each of those is a family of its own, and may be made for some sizes
            first.setdefault(family(cell), cell)
    return first


def _sizes(cells: list[Cell]) -> list[ProblemSpec]:
    """The smallest and the largest of the problems, by their products."""
    specs = set()
    for problem in {cell.problem for cell in cells}:
        try:
            spec = problem.spec(problem.load())
        except MissingDataError:
            continue
        specs.add(ProblemSpec(min(spec.context_dim, LARGEST_CONTEXT), spec.num_actions))
    ordered = sorted(specs, key=lambda spec: spec.num_actions * spec.context_dim**2)
    return list(dict.fromkeys([ordered[0], ordered[-1]])) if ordered else [ProblemSpec(10, 5)]


def _measure(cell: Cell, sizes: list[ProblemSpec]) -> Measured:
    policy = cell.policy.brief()
    on_cpu = jax.default_backend() == "cpu" and policy.refit_every
    # a CPU's core works on one trial after another anyway
    trials = min(cell.trials, cores() * FEWEST_TRAINING) if on_cpu else cell.trials
    rows, took, compiling = [], [], []
    for spec in sizes:
        horizon = _short(policy, spec, trials)
        problem = Linear(context_dim=spec.context_dim, num_actions=spec.num_actions, horizon=horizon)
        outcome = simulate(policy, problem, trials=trials)
        work = policy.work(spec, horizon).times(trials)
        rows.append((work.steps, work.operations))
        took.append(outcome.run_seconds * cores_at_play(policy, trials))  # of one core
        compiling.append(outcome.compile_seconds)
    scaled = np.asarray(rows) / np.asarray(took)[:, None]  # relative errors count
    unit = np.maximum(scaled.max(axis=0), 1e-300)
    found, _ = nnls(scaled / unit, np.ones(len(rows)))
    return Measured(Rates(*map(float, found / unit)), float(np.mean(compiling)))


def _short(policy: Policy, spec: ProblemSpec, trials: int) -> int:
    """Steps that should take about a second, a whole number of refits, at least two."""
    every = policy.refit_every or 500
    one = seconds(policy.work(spec, every).times(trials))
    return every * max(2, min(math.ceil(TARGET_SECONDS / one), 20_000 // every))


def _keep(name: str, measured: Measured) -> None:
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        kept = {}
    kept = kept if isinstance(kept, dict) else {}
    own = kept.get(_key())
    kept[_key()] = {**(own if isinstance(own, dict) else {}), name: asdict(measured)}
    write_atomically(path, lambda temporary: Path(temporary).write_text(json.dumps(kept, indent=1)))
