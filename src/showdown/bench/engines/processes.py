"""Play the cells of a plan in several processes at once, each given the next cell when it has finished one.

Worth it where a cell does not fill the machine: compilation uses one core, and a network of a hundred units is little
work for a GPU (where NVIDIA's MPS lets the processes share it at once instead of by turns). The numbers are the same;
the seconds of a cell are not those of a machine to itself, and its record says so.

Every process has a connection of its own to the first one, which knows what it gave to whom. A process that dies closes
its connection: its cell is lost, and another process takes its place. If the first one dies the others find their
connections closed. A process whose cell takes too long is killed, also while it compiles, which nothing else can stop.

`Worker` is a process as the first one sees it, `_work` is what it does, `Processes` is the engine.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path

from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench.cell import Cell
from showdown.bench.compilation import use_compilation_cache
from showdown.bench.engine import CellResult, Engine, RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.estimate import longest_first
from showdown.bench.plan import Planned
from showdown.bench.play_cell import about, not_begun, took_longer
from showdown.bench.store import Store
from showdown.config.registry import load_file
from showdown.play import memory

READY = "ready"  # the first message of a process; after it numbers of steps, sentences, and for each cell a result, or
CLAIMED = "claimed"  # that another run on the same store is playing it
GUARD = "Other processes import the script: what it does must stand below `if __name__ == '__main__':`"
GRACE_SECONDS = 2.0  # for a process to find out itself that its cell takes too long, which it does between segments


class Worker:
    def __init__(self, directory: Path, limits: RunLimits) -> None:
        if getattr(multiprocessing.current_process(), "_inheriting", False):  # this one is still importing its script
            raise UsageError(f"this script was started once more by itself. {GUARD}")
        context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
        self.connection, theirs = context.Pipe()
        limits = replace(limits, progress=None, say=None)  # a function need not survive pickling
        arguments = (directory, limits, theirs)
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        with _ignoring_interrupts():  # Ctrl-C reaches all processes; the first one decides
            self.process.start()
        theirs.close()  # so that the connection is closed when the process is gone
        self.ready = False
        self.playing: Planned | None = None
        self.began = math.inf  # its cell

    def is_ready(self) -> None:
        self.ready, self.began = True, time.monotonic()

    def end_of_cell(self, limits: RunLimits) -> float:
        """The time at which it is killed. Its start does not count, nor waiting for another run's cell."""
        return math.inf if limits.cell_seconds is None else self.began + limits.cell_seconds + GRACE_SECONDS

    def plays(self, item: Planned, wait: bool = False) -> bool:
        """Give it a cell, to wait for if another run is playing it; False if the process died since the last one."""
        try:
            self.connection.send((item, wait))
        except OSError:
            return False
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            why = f"{item.cell.label} cannot be handed to another process ({error}): play it without --processes"
            raise UsageError(why) from None
        self.playing = item
        self.began = time.monotonic() if self.ready and not wait else math.inf
        return True

    def kill(self) -> None:
        self.process.kill()  # cells are written whole or not at all
        self.process.join()
        self.connection.close()

    def end(self) -> str:
        """How it ended, once its connection is closed."""
        self.process.join(5)  # the connection closes a little before the end
        self.kill()
        code = self.process.exitcode or 0
        return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"


def _work(directory: Path, limits: RunLimits, connection: Connection) -> None:
    """What the process does until its connection is closed: play the cells that it is sent."""
    memory.sharers = limits.processes
    for path in limits.load:
        load_file(path)

    def progress(cell: Cell, steps: int) -> None:
        try:
            connection.send(steps)
        except OSError:  # the first process is gone: what is played now would be played for nobody
            os._exit(1)

    use_compilation_cache()
    connection.send(READY)
    engine = Local(Store(directory), concurrent=limits.processes - 1)
    limits = replace(limits, progress=progress, say=connection.send)
    with suppress(EOFError):  # until the connection is closed
        while True:
            item, wait = connection.recv()
            try:
                connection.send(engine.result(item, limits, wait) or CLAIMED)
            except ShowdownError as error:  # of the store, such as a full disk: nothing more can be played
                connection.send(error)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """A process started inside ignores Ctrl-C. Only the main thread may set that; in other threads it is not set."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Processes:
    store: Store

    def run(self, planned: Iterable[Planned], limits: RunLimits) -> Iterator[CellResult]:
        """Yield results in the order in which cells finish.

        The longest cells are begun first; where there is a limit for all of them, those that were given first are, so
        that the caller decides which are finished.
        """
        end = math.inf if limits.all_seconds is None else time.monotonic() + limits.all_seconds
        planned = list(planned)
        yield from Local(self.store).run([item for item in planned if item.done], limits)
        new = [item for item in planned if not item.done]
        left = deque(longest_first(new, self.store) if limits.all_seconds is None else new)
        limits = replace(limits, processes=max(1, min(limits.processes, len(left))))
        # a process that takes three quarters of a GPU at its start, as JAX does, leaves nothing for the next
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        workers: list[Worker] = []
        claimed: set[str] = set()  # cells that other runs on this store were playing: tried again at the end
        try:
            while True:
                while left and len(workers) < limits.processes:
                    workers.append(Worker(self.store.directory, limits))
                    if workers[-1].plays(left[0], left[0].cell.hash in claimed):
                        left.popleft()
                    else:
                        raise _not_started(workers[-1])
                if not workers:
                    return
                if time.monotonic() >= end:
                    yield from [self._late(worker, limits, limits.all_seconds, "all cells") for worker in workers]
                    yield from [not_begun(item.cell, limits) for item in left]
                    return
                until = min(end, *(worker.end_of_cell(limits) for worker in workers))
                patience = max(0.0, until - time.monotonic()) if until < math.inf else None
                ready = wait([worker.connection for worker in workers], patience)
                for worker in list(workers):
                    result = self._news(worker, worker.connection in ready, limits)
                    if result is None:
                        continue
                    if result == CLAIMED and worker.playing is not None:
                        claimed.add(worker.playing.cell.hash)
                        left.append(worker.playing)
                    if left and worker.plays(left[0], left[0].cell.hash in claimed):
                        left.popleft()
                    else:
                        worker.kill()
                        workers.remove(worker)
                    if isinstance(result, CellResult):
                        yield result
        finally:  # also when the user stops it, and when nobody wants more results
            for worker in workers:
                worker.kill()

    def _news(self, worker: Worker, has_message: bool, limits: RunLimits) -> CellResult | str | None:
        """What the process says, or the result of a cell that took too long."""
        if has_message:
            return self._receive(worker, limits)
        if time.monotonic() < worker.end_of_cell(limits):
            return None
        return self._late(worker, limits, limits.cell_seconds, "a cell")

    def _late(self, worker: Worker, limits: RunLimits, seconds: float | None, what: str) -> CellResult:
        worker.kill()  # before anything is looked at, so that nothing changes afterwards
        item = worker.playing
        assert item is not None  # else it would not be among the workers
        assert seconds is not None
        if self.store.is_done(item.cell.hash):  # in the last moment
            return CellResult(item.cell, "done")
        reason = took_longer(seconds, what)
        self.store.write_failed(item.cell, item.names, "timeout", reason, about(limits.processes - 1))
        return CellResult(item.cell, "timeout", reason)

    def _receive(self, worker: Worker, limits: RunLimits) -> CellResult | str | None:
        """What one message says: a result, that the cell is claimed, or nothing yet."""
        assert worker.playing is not None  # else it would not be among the workers
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            if not worker.ready:
                raise _not_started(worker) from None
            return self._lost(worker, worker.playing, limits)
        if message == READY:
            worker.is_ready()
        elif isinstance(message, ShowdownError):
            raise message
        elif isinstance(message, CellResult) or message == CLAIMED:
            return message
        elif isinstance(message, str):
            if limits.say is not None:
                limits.say(message)
        elif limits.progress is not None:
            limits.progress(worker.playing.cell, message)
        return None

    def _lost(self, worker: Worker, item: Planned, limits: RunLimits) -> CellResult:
        if self.store.is_done(item.cell.hash):  # it died after it had stored the cell
            return CellResult(item.cell, "done")
        reason = f"its process {worker.end()}; if memory ran out, fewer --processes or --batch-trials may help"
        self.store.write_failed(item.cell, item.names, "error", reason, about(limits.processes - 1))
        return CellResult(item.cell, "error", reason)


def _not_started(worker: Worker) -> ShowdownError:
    return ShowdownError(f"a process could not be started: it {worker.end()}; see above. {GUARD}")


def engine(store: Store) -> Engine:
    return Processes(store)
