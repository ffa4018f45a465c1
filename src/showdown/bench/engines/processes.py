"""Play the cells of a plan in several processes at once, each given the next cell when it has finished one.

Worth it where a cell does not fill the machine: compilation uses one core, and a network of a hundred units is little
work for a GPU (where NVIDIA's MPS lets the processes share it at once instead of by turns). The numbers are the same;
the seconds of a cell are not those of a machine to itself, and its record says so.

Every process has a connection of its own to the first one, which knows what it gave to whom. A process that dies closes
its connection: its cell is lost, and another process takes its place. If the first one dies the others find their
connections closed.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import wait

from showdown.bench.engine import Engine, Limits, Result
from showdown.bench.engines._worker import CLAIMED, READY, Worker
from showdown.bench.engines.local import Local
from showdown.bench.estimate import longest_first
from showdown.bench.plan import Planned
from showdown.bench.play_cell import about
from showdown.bench.store import Store
from showdown.errors import ShowdownError


@dataclass(frozen=True)
class Processes:
    store: Store

    def run(self, planned: Iterable[Planned], limits: Limits) -> Iterator[Result]:
        """The longest cells first, with results in the order in which cells finish."""
        planned = list(planned)
        yield from Local(self.store).run([item for item in planned if item.done], limits)
        left = deque(longest_first([item for item in planned if not item.done], self.store))
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
                ready = wait([worker.connection for worker in workers])
                for worker in [worker for worker in workers if worker.connection in ready]:
                    result = self._receive(worker, limits)
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
                    if isinstance(result, Result):
                        yield result
        finally:  # also when the user stops it, and when nobody wants more results
            for worker in workers:
                worker.kill()

    def _receive(self, worker: Worker, limits: Limits) -> Result | str | None:
        """What one message says: a result, that the cell is claimed, or nothing yet."""
        assert worker.playing is not None  # else it would not be among the workers
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            if not worker.ready:
                raise _not_started(worker) from None
            return self._lost(worker, worker.playing, limits)
        if message == READY:
            worker.ready = True
        elif isinstance(message, ShowdownError):
            raise message
        elif isinstance(message, Result) or message == CLAIMED:
            return message
        elif limits.progress is not None:
            limits.progress(worker.playing.cell, message)
        return None

    def _lost(self, worker: Worker, item: Planned, limits: Limits) -> Result:
        if self.store.is_done(item.cell.hash):  # it died after it had stored the cell
            return Result(item.cell, "done")
        reason = f"its process {worker.end()}; if memory ran out, fewer --processes or --batch-trials may help"
        self.store.write_failed(item.cell, item.names, "error", reason, about(limits.processes - 1))
        return Result(item.cell, "error", reason)


def _not_started(worker: Worker) -> ShowdownError:
    return ShowdownError(f"a process could not be started: it {worker.end()}; see above")


def engine(store: Store) -> Engine:
    return Processes(store)
