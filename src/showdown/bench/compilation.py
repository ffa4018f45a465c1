"""Compiled programs: kept on disk between runs, and compiled ahead in several threads.

XLA compiles one program mostly on one core. On a CPU the programs of several cells are compiled together before the
first of them is played: nothing is compiled while a cell is being timed. On an accelerator the next cells are compiled
on the host while the device plays.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import jax

from showdown.basics.files import cache_folder
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.machine.resources import cores
from showdown.play.batch_size import first_batch
from showdown.play.compile_once import Job, compile_ahead, is_known
from showdown.play.prepared import prepare
from showdown.play.programs import jobs


def use_compilation_cache() -> None:
    """Keep compiled programs in the cache folder, unless the user set a folder for them or turned that off."""
    settings: Any = jax.config
    if settings.jax_compilation_cache_dir is not None or not settings.jax_enable_compilation_cache:
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    # JAX writes an entry in place, so another process may be halfway through it, or have been killed there.
    # JAX then compiles as if there were none, which is right and no news to the user.
    warnings.filterwarnings("ignore", message="Error reading persistent compilation cache entry", category=UserWarning)


MOST_THREADS = 8  # each may need hundreds of megabytes
PROGRAMS_PER_THREAD = 8  # compiled together on a CPU: enough that no thread waits long for the last of them
CELLS_AHEAD = 2  # compiled while an accelerator plays


class CompileAhead:
    def __init__(self, cells: Sequence[Cell], limits: RunLimits, threads: int | None = None) -> None:
        self.cells, self.limits = cells, limits
        self.position = {cell.hash: number for number, cell in enumerate(cells)}
        self.begun = 0  # cells whose programs are compiled, or being compiled
        self.threads = threads or min(MOST_THREADS, cores())
        self.pool = ThreadPoolExecutor(self.threads, "compile")

    def before(self, cell: Cell) -> None:
        """Compile what the next cells need; call it before each cell, in order. Errors are left to playing the cell."""
        number = self.position.get(cell.hash)
        limited = self.limits.cell_seconds is not None or self.limits.all_seconds is not None
        if number is None or limited:  # compiling counts towards the limits
            return
        if jax.default_backend() != "cpu":
            self._begin(number, number + 1 + CELLS_AHEAD)
        elif number >= self.begun and self.threads > 1:
            if self.limits.progress is not None:
                self.limits.progress(cell, 0)  # it has begun
            wait(self._begin(number, len(self.cells), self.threads * PROGRAMS_PER_THREAD))

    def close(self) -> None:
        """Begin nothing more; what is being compiled cannot be stopped."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self, first: int, end: int, most: int | None = None) -> list[Future[None]]:
        """Begin compiling for the cells from `first` to before `end`, about `most` programs; return the futures."""
        futures: list[Future[None]] = []
        self.begun = max(self.begun, first)
        while self.begun < min(end, len(self.cells)) and (most is None or len(futures) < most):
            new = [job for job in self._jobs(self.cells[self.begun]) if not is_known(job)]
            futures += [self.pool.submit(compile_ahead, job) for job in new]
            self.begun += 1
        return futures

    def _jobs(self, cell: Cell) -> list[Job]:
        try:
            prepared = prepare(cell.policy, cell.problem, trials=cell.trials, batch_trials=self.limits.batch_trials)
            batch, _ = first_batch(prepared, cell.trials, self.limits.batch_trials)
            if prepared.devices == 1:  # so that no job keeps the data in memory; on several, it says where they are
                prepared = replace(prepared, tables=jax.eval_shape(lambda tables: tables, prepared.tables))
            return list(jobs(prepared, batch).values())
        except Exception:  # of a policy or a problem, whatever it may be: playing the cell meets it again
            return []
