"""Play one cell and store what came of it: its trials, or the reason why there are none."""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime

import jax

from showdown import __version__
from showdown.basics.errors import DivergedError, MissingDataError, ShowdownError
from showdown.bench.cell import Cell
from showdown.bench.engine import CellResult, RunLimits
from showdown.bench.plan import Planned
from showdown.bench.record import About
from showdown.bench.store import Store
from showdown.machine.resources import cores
from showdown.play.simulate import simulate
from showdown.protocol.problem import Tables


class _TimeoutError(ShowdownError):
    pass


def play_cell(
    item: Planned, store: Store, limits: RunLimits, concurrent: int = 0, tables: Tables | None = None
) -> CellResult:
    """Play a cell and store it. `concurrent`, the number of other processes that play meanwhile, is only recorded.

    `tables` is the problem's data, where it was loaded before.
    """
    cell = item.cell
    if limits.progress is not None:
        limits.progress(cell, 0)  # it has begun, which is compiling until the first steps are played
    try:
        outcome = simulate(
            cell.policy,
            cell.problem,
            trials=cell.trials,
            seed=cell.seed,
            batch_trials=limits.batch_trials,
            progress=_watch(cell, limits),
            tables=tables,
        )
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
        origin: About = {**about(concurrent), "traceback": traceback.format_exc()}
        store.write_failed(cell, item.names, status, reason, origin)
        return CellResult(cell, status, f"{reason} (traceback: {store.folder / cell.hash}.json)")
    else:
        store.write_done(cell, item.names, outcome, about(concurrent))
        seconds = outcome.compile_seconds, outcome.run_seconds
        return CellResult(cell, "done", "", True, *seconds, outcome.largest_diagnostics())
    store.write_failed(cell, item.names, status, reason, about(concurrent))
    return CellResult(cell, status, reason)


def _watch(cell: Cell, limits: RunLimits) -> Callable[[int], None]:
    """A function to call after every segment: it reports progress, and ends a cell that takes too long."""
    began = time.monotonic()

    def watch(steps: int) -> None:
        if limits.cell_seconds is not None and time.monotonic() - began > limits.cell_seconds:
            raise _TimeoutError(took_longer(limits.cell_seconds, "a cell"))
        if limits.progress is not None:
            limits.progress(cell, steps)

    return watch


def took_longer(seconds: float, what: str) -> str:
    return f"took longer than the {seconds:g} seconds allowed for {what}"


def not_begun(cell: Cell, limits: RunLimits) -> CellResult:
    """The result of a cell that there is no time left for. Nothing is stored."""
    return CellResult(cell, "timeout", f"not begun within the {limits.all_seconds:g} seconds allowed for all cells")


def about(concurrent: int = 0) -> About:
    """Where, when and with what a cell was played."""
    device = jax.local_devices()[0]
    return {
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "versions": {"showdown": __version__, "jax": jax.__version__, "python": platform.python_version()},
        "concurrent": concurrent,
        "hardware": {
            "device": device.device_kind,
            "platform": device.platform,
            "machine": platform.machine(),
            "cores": cores(),
            **({"devices": jax.local_device_count()} if jax.local_device_count() > 1 else {}),
        },
    }
