"""Play the cells of a plan, one after another, and keep each as soon as it is finished."""

from __future__ import annotations

import os
import platform
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import jax

from showdown import __version__
from showdown.bench.cell import Cell
from showdown.bench.plan import Planned
from showdown.bench.record import About
from showdown.bench.store import Store
from showdown.errors import DivergedError, MissingDataError, ShowdownError, UsageError
from showdown.folders import cache_folder
from showdown.simulate import Outcome, simulate

Progress = Callable[[Cell, int], None]  # the cell being played, trial-steps just played


@dataclass(frozen=True)
class Result:
    """What became of one cell."""

    cell: Cell
    status: str  # done, diverged, timeout, error or skipped
    reason: str = ""
    new: bool = True  # played now, rather than found in the store
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    diagnostics: dict[str, float] = field(default_factory=dict)  # the largest over trials; of a cell played now


class _TimeoutError(ShowdownError):
    pass


def run(
    planned: Iterable[Planned],
    store: Store,
    *,
    batch_trials: int | None = None,
    cell_seconds: float | None = None,
    progress: Progress | None = None,
    beside: int = 0,
) -> Iterator[Result]:
    """Yield a result per cell. A cell that fails is recorded with its reason and the others go on.

    `beside` is the number of other processes that play at the same time (see `processes.py`); it is only recorded.
    """
    check_limits(batch_trials, cell_seconds)
    store.prepare()
    use_compilation_cache()
    for item in planned:
        if item.done or store.is_done(item.cell.hash):  # another process may have finished it meanwhile
            store.add_names(item.cell, item.names)
            yield Result(item.cell, "done", new=False)
        else:
            yield _run_cell(item, store, batch_trials, cell_seconds, progress, beside)


def check_limits(batch_trials: int | None, cell_seconds: float | None) -> None:
    if batch_trials is not None and batch_trials < 1:
        raise UsageError(f"batch_trials must be at least 1, not {batch_trials}")
    if cell_seconds is not None and cell_seconds < 0:
        raise UsageError(f"cell_seconds must not be negative, and is {cell_seconds:g}")


def _run_cell(
    item: Planned,
    store: Store,
    batch_trials: int | None,
    cell_seconds: float | None,
    progress: Progress | None,
    beside: int,
) -> Result:
    cell = item.cell
    began = time.monotonic()

    def watch(steps: int) -> None:
        if cell_seconds is not None and time.monotonic() - began > cell_seconds:
            raise _TimeoutError(f"took longer than the {cell_seconds:g} seconds allowed for a cell")
        if progress is not None:
            progress(cell, steps)

    try:
        outcome = _simulate_within_memory(cell, batch_trials, watch)
    except MissingDataError as error:
        status, reason = "skipped", str(error)
    except DivergedError as error:
        status, reason = "diverged", str(error)
    except _TimeoutError as error:
        status, reason = "timeout", str(error)
    except ShowdownError as error:
        status, reason = "error", str(error)
    except Exception as error:  # a defect in one policy must not cost the other cells
        status, reason = "error", "".join(traceback.format_exception_only(error)).strip()
        store.write_failed(cell, item.names, status, reason, {**about(beside), "traceback": traceback.format_exc()})
        return Result(cell, status, reason)
    else:
        store.write_done(cell, item.names, outcome, about(beside))
        seconds = outcome.compile_seconds, outcome.run_seconds
        return Result(cell, "done", "", True, *seconds, outcome.largest_diagnostics())
    store.write_failed(cell, item.names, status, reason, about(beside))
    return Result(cell, status, reason)


def _simulate_within_memory(cell: Cell, batch_trials: int | None, watch: Callable[[int], None]) -> Outcome:
    """Simulate; where the device runs out of memory all the same, try again with half as many trials at a time."""
    batch = batch_trials
    while True:
        try:
            return simulate(
                cell.policy, cell.problem, trials=cell.trials, seed=cell.seed, batch_trials=batch, progress=watch
            )
        except jax.errors.JaxRuntimeError as error:
            half = (batch or cell.trials) // 2
            if "RESOURCE_EXHAUSTED" not in str(error) or half < 1 or batch_trials is not None:
                raise
            batch = half


def about(beside: int = 0) -> About:
    """Where, when and with what a cell was made."""
    device = jax.local_devices()[0]
    return {
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "versions": {"showdown": __version__, "jax": jax.__version__, "python": platform.python_version()},
        "concurrent": beside,
        "hardware": {
            "device": device.device_kind,
            "platform": device.platform,
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def use_compilation_cache() -> None:
    """Keep compiled programs on disk between runs, unless the user already said where (or that there be none)."""
    settings: Any = jax.config
    if settings.jax_compilation_cache_dir is not None or not settings.jax_enable_compilation_cache:
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
    # JAX writes an entry in place, so a process beside this one may be halfway through it, or have been killed there.
    # JAX then compiles as if there were none, which is right and no news to the user.
    warnings.filterwarnings("ignore", message="Error reading persistent compilation cache entry", category=UserWarning)
