"""Play the cells of a plan in several processes side by side, each given the next cell when it is done with one.

Worth it where a cell does not fill the machine: compilation uses one core, and a network of a hundred units is little
work for a GPU (where NVIDIA's MPS lets the processes share it at once instead of by turns). The numbers are the same;
the seconds of a cell are not those of a machine to itself, and its record says so.

Every process has a line of its own to the first one, which knows what it gave to whom. A process that dies closes its
line: its cell is lost, and another process takes its place. If the first one dies the others find their lines closed.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from showdown import memory
from showdown.bench.cell import Cell
from showdown.bench.estimate import longest_first
from showdown.bench.plan import Planned
from showdown.bench.run import Progress, Result, about, check_limits, run
from showdown.bench.store import Store
from showdown.errors import ShowdownError, UsageError
from showdown.registry import load_file

READY = "ready"  # what a process says when it has started; after that, numbers of steps, and a result for each cell


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every process is told; it must survive pickling."""

    processes: int
    directory: Path
    batch_trials: int | None
    cell_seconds: float | None
    load: tuple[Path, ...]  # files with policies or problems of the user's


class _Worker:
    """A process as the first one sees it."""

    def __init__(self, settings: Settings) -> None:
        context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(settings, theirs), daemon=True)
        with _ignoring_interrupts():  # Ctrl-C reaches all processes; the first one decides
            self.process.start()
        theirs.close()  # so that the line is closed when the process is gone
        self.ready = False
        self.playing: Planned | None = None

    def plays(self, item: Planned) -> bool:
        """Give it a cell; False if it died since the last one."""
        try:
            self.line.send(item)
        except OSError:
            return False
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            told = f"{item.cell.label} cannot be handed to another process ({error}): play it without --processes"
            raise UsageError(told) from None
        self.playing = item
        return True

    def kill(self) -> None:
        self.process.kill()  # cells are written whole or not at all
        self.process.join()
        self.line.close()

    def fate(self) -> str:
        """How it ended, once its line is closed."""
        self.process.join(5)  # the line closes a little before the end
        self.kill()
        code = self.process.exitcode or 0
        return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"


def run_side_by_side(
    planned: list[Planned],
    store: Store,
    *,
    processes: int,
    batch_trials: int | None = None,
    cell_seconds: float | None = None,
    load: tuple[Path, ...] = (),
    progress: Progress | None = None,
) -> Iterator[Result]:
    """As `run`, the longest cells first, with results in the order in which cells finish."""
    check_processes(processes)
    check_limits(batch_trials, cell_seconds)
    yield from run([item for item in planned if item.done], store)
    left = deque(longest_first([item for item in planned if not item.done], store))
    settings = Settings(
        processes=min(processes, len(left)),
        directory=store.directory,
        batch_trials=batch_trials,
        cell_seconds=cell_seconds,
        load=load,
    )
    # a process that takes three quarters of a GPU at its start, as JAX does, leaves nothing for the next
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    workers: list[_Worker] = []
    try:
        while True:
            while left and len(workers) < settings.processes:
                workers.append(_Worker(settings))
                if workers[-1].plays(left[0]):
                    left.popleft()
                else:
                    raise _not_started(workers[-1])
            if not workers:
                return
            ready = wait([worker.line for worker in workers])
            for worker in [worker for worker in workers if worker.line in ready]:
                result = _hear(worker, store, settings, progress)
                if result is None:
                    continue
                if left and worker.plays(left[0]):
                    left.popleft()
                else:
                    worker.kill()
                    workers.remove(worker)
                yield result
    finally:  # also when the user stops it, and when nobody wants more results
        for worker in workers:
            worker.kill()


def check_processes(processes: int) -> None:
    if processes < 1:
        raise UsageError(f"processes must be at least 1, not {processes}")


def _hear(worker: _Worker, store: Store, settings: Settings, progress: Progress | None) -> Result | None:
    """What one message says: a result, or nothing yet."""
    assert worker.playing is not None  # else it would not be among the workers
    try:
        message = worker.line.recv()
    except (EOFError, OSError):
        if not worker.ready:
            raise _not_started(worker) from None
        return _lost(worker, store, settings)
    if message == READY:
        worker.ready = True
    elif isinstance(message, Result):
        return message
    elif progress is not None:
        progress(worker.playing.cell, message)
    return None


def _not_started(worker: _Worker) -> ShowdownError:
    return ShowdownError(f"a process could not be started: it {worker.fate()}; see above")


def _lost(worker: _Worker, store: Store, settings: Settings) -> Result:
    item = worker.playing
    assert item is not None
    if store.is_done(item.cell.hash):  # it died after the last stroke
        return Result(item.cell, "done")
    reason = f"its process {worker.fate()}; if memory ran out, fewer --processes or --batch-trials may help"
    store.write_failed(item.cell, item.names, "error", reason, about(settings.processes - 1))
    return Result(item.cell, "error", reason)


def _work(settings: Settings, line: Connection) -> None:
    """The life of one of the processes."""
    memory.sharers = settings.processes
    for path in settings.load:
        load_file(path)

    def progress(cell: Cell, steps: int) -> None:
        try:
            line.send(steps)
        except OSError:  # the first process is gone: what is played now would be played for nobody
            os._exit(1)

    line.send(READY)
    for result in run(
        _given(line),
        Store(settings.directory),
        batch_trials=settings.batch_trials,
        cell_seconds=settings.cell_seconds,
        progress=progress,
        beside=settings.processes - 1,
    ):
        line.send(result)


def _given(line: Connection) -> Iterator[Planned]:
    """The cells that come along the line, until it is closed."""
    with suppress(EOFError):
        while True:
            yield line.recv()


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """A process started inside does not hear Ctrl-C. Only the main thread may say so; in others it goes unsaid."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
