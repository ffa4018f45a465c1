"""Play the cells of a plan on a Ray cluster: one on this machine, or many machines that have Ray and showdown.

A cell is a task that asks for cores and GPUs. A problem's data goes to the object store once, from where each machine
fetches it once. The driver claims cells in its store, gives them out longest first, and stores the files that workers
send; workers store nothing. A worker that dies costs one attempt: its cell is played again, up to `ATTEMPTS` times.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import jax

from showdown import __version__
from showdown.basics.errors import MissingDataError, ShowdownError, UsageError
from showdown.basics.text import one_line
from showdown.bench.engine import CellResult, Engine, RunLimits
from showdown.bench.engines._ray_board import ProgressBoard
from showdown.bench.engines._ray_cluster import CellJob, OtherVersionError, connected, gpus_per_cell, play, slots
from showdown.bench.engines.local import Local
from showdown.bench.estimate import longest_first
from showdown.bench.plan import Planned
from showdown.bench.play_cell import about
from showdown.bench.store import Store
from showdown.bench.waiting import Waiting
from showdown.protocol.problem import Problem

ATTEMPTS = 4  # of a cell whose worker dies
POLL_SECONDS = 0.25  # between two looks at the progress of cells
IN_FLIGHT = 2  # cells given to the cluster for each that it can play at once, so that no worker waits for the driver


@dataclass(frozen=True)
class Ray:
    store: Store

    def run(self, planned: Iterable[Planned], limits: RunLimits) -> Iterator[CellResult]:
        """Play the longest cells first, and yield results in the order in which cells finish."""
        planned = list(planned)
        yield from Local(self.store).run([item for item in planned if item.done], limits)
        left = longest_first([item for item in planned if not item.done], self.store)
        if not left:
            return
        data = _Data(left)
        with connected(limits, data.bytes) as ray:
            yield from _Driver(self.store, limits, ray, data).play(deque(left))


class _Data:
    """The data of each problem of the plan, on the host."""

    def __init__(self, planned: list[Planned]) -> None:
        self.tables: dict[Problem, Any] = {}
        for problem in dict.fromkeys(item.cell.problem for item in planned):
            try:
                self.tables[problem] = problem.load()
            except MissingDataError:  # a worker may have it
                self.tables[problem] = None
        self.bytes = sum(leaf.nbytes for leaf in jax.tree.leaves(list(self.tables.values())) if hasattr(leaf, "nbytes"))


class _Flight(NamedTuple):
    """A cell that the cluster is playing."""

    item: Planned
    claim: ExitStack  # of the cell in the store


@dataclass
class _Driver:
    store: Store
    limits: RunLimits
    ray: Any
    data: _Data
    flights: dict[Any, _Flight] = field(default_factory=dict)  # by the reference of the task's result
    attempts: Counter[str] = field(default_factory=Counter)  # of each cell
    steps: dict[str, int] = field(default_factory=dict)  # that were reported as played
    waiting: dict[str, Waiting] = field(default_factory=dict)  # for cells that other runs on this store play

    def play(self, left: deque[Planned]) -> Iterator[CellResult]:
        self.slots = slots(self.ray, self.limits)
        gpus = gpus_per_cell(self.ray, self.limits)
        resources = {"num_cpus": self.limits.cell_cpus, "num_gpus": gpus, "max_retries": 0}
        self.task = self.ray.remote(**resources)(play)
        self.board = self.ray.remote(num_cpus=0, max_restarts=-1)(ProgressBoard).remote()
        self.references = {problem: self.ray.put(tables) for problem, tables in self.data.tables.items()}
        self.data.tables.clear()
        self.sources = tuple((path.name, path.read_bytes()) for path in self.limits.load)
        self.cells = {item.cell.hash: item.cell for item in left}
        elsewhere: deque[Planned] = deque()  # cells that other runs on this store are playing
        try:
            while left or elsewhere or self.flights:
                left = left or deque([elsewhere.popleft() for _ in range(len(elsewhere))])
                while left and len(self.flights) < IN_FLIGHT * self.slots.cluster:
                    yield from self._send(left.popleft(), elsewhere)
                yield from self._receive(left)
        finally:  # also when the user stops it, and when nobody wants more results
            for reference in self.flights:
                self.ray.cancel(reference, force=True)
            for flight in self.flights.values():
                flight.claim.close()
            self.ray.kill(self.board)

    def _send(self, item: Planned, elsewhere: deque[Planned]) -> Iterator[CellResult]:
        """Give a cell to the cluster, unless another run plays it or has played it."""
        claim, cell = ExitStack(), item.cell
        if not claim.enter_context(self.store.claim(cell.hash)):
            late = self.waiting.setdefault(cell.hash, Waiting(self.store, cell, self.limits)).given_up()
            if late is None:
                elsewhere.append(item)
            else:
                yield late
            return
        with claim:
            if self.store.is_done(cell.hash):
                self.store.add_names(cell, item.names)
                yield CellResult(cell, "done", new=False)
                return
            self.store.require_space(cell)
            try:
                pickled = pickle.dumps(item)
            except (AttributeError, TypeError, pickle.PicklingError) as error:
                why = f"{cell.label} cannot be handed to another process ({error}): play it with --engine local"
                raise UsageError(why) from None
            limits = replace(self.limits, progress=None, say=None, load=())
            job = CellJob(__version__, self.sources, pickled, limits, self.slots.machine, self.store.directory)
            self.attempts[cell.hash] += 1
            reference = self.task.remote(job, self.references[cell.problem], self.board)
            self.flights[reference] = _Flight(item, claim.pop_all())

    def _receive(self, left: deque[Planned]) -> Iterator[CellResult]:
        """Store what has arrived within a moment."""
        if not self.flights:
            time.sleep(POLL_SECONDS)  # other runs play all that is left
            return
        ready, _ = self.ray.wait(list(self.flights), num_returns=1, timeout=POLL_SECONDS)
        self._report_progress()
        for reference in ready:
            item, claim = self.flights.pop(reference)
            with claim:
                result = self._stored(reference, item)
            if result is None:
                left.appendleft(item)
            else:
                self._report(item, item.cell.trials * item.cell.problem.horizon)
                yield result

    def _stored(self, reference: Any, item: Planned) -> CellResult | None:
        """Store a cell that arrived, and return its result; None if its worker died and it is to be played again."""
        errors = self.ray.exceptions
        try:
            result, files = self.ray.get(reference)
        except errors.RayTaskError as error:  # of the worker's own
            if isinstance(error.cause, OtherVersionError):  # which every other cell would meet too
                raise ShowdownError(f"{item.cell.label}: {error.cause}") from None
            return self._not_played(item, error.cause)
        except errors.RayError as error:
            return self._lost(item, type(error).__name__)
        self.store.adopt(files)
        return result

    def _not_played(self, item: Planned, why: BaseException | None) -> CellResult:
        """The result of a cell that a worker could not begin, such as one of a plug-in that it lacks."""
        advice = "a package that a policy or problem comes from must be installed on every machine of the cluster"
        return self._error(item, one_line(f"a worker cannot play it ({type(why).__name__}: {why}); {advice}"))

    def _lost(self, item: Planned, error: str) -> CellResult | None:
        attempts = self.attempts[item.cell.hash]
        if attempts < ATTEMPTS:
            return None
        advice = "if memory ran out, a larger --cell-cpus or fewer --batch-trials may help"
        reason = f"its worker died {attempts} times (Ray says {error}); {advice}"
        return self._error(item, reason)

    def _error(self, item: Planned, reason: str) -> CellResult:
        self.store.write_failed(item.cell, item.names, "error", reason, about(self.slots.machine - 1))
        return CellResult(item.cell, "error", reason)

    def _report_progress(self) -> None:
        try:
            news = self.ray.get(self.board.read.remote())
        except self.ray.exceptions.RayError:  # the board's worker died; Ray starts another
            return
        for flight in self.flights.values():
            if flight.item.cell.hash in news:
                self._report(flight.item, news[flight.item.cell.hash])

    def _report(self, item: Planned, total: int) -> None:
        """Report progress. Steps that a second attempt repeats are not counted again."""
        new = max(0, total - self.steps.get(item.cell.hash, 0))
        self.steps[item.cell.hash] = self.steps.get(item.cell.hash, 0) + new
        if self.limits.progress is not None:
            self.limits.progress(item.cell, new)


def engine(store: Store) -> Engine:
    return Ray(store)
