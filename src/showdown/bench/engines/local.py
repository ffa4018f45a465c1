"""Play the cells of a plan in this process, one after another, and store each as soon as it is finished."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, overload

from showdown.bench.compilation import CompileAhead, use_compilation_cache
from showdown.bench.engine import CellResult, Engine, RunLimits
from showdown.bench.plan import Planned
from showdown.bench.play_cell import not_begun, play_cell
from showdown.bench.store import Store
from showdown.bench.waiting import Waiting

POLL_SECONDS = 0.1  # between two tries to claim a cell that another run is playing


@dataclass(frozen=True)
class Local:
    store: Store
    concurrent: int = 0  # other processes that play at the same time; recorded with each cell

    def run(self, planned: Iterable[Planned], limits: RunLimits) -> Iterator[CellResult]:
        self.prepare()
        began = time.monotonic()
        planned, claimed_by_others = list(planned), []
        ahead = CompileAhead([item.cell for item in planned if not item.done], limits)
        try:
            for item in planned:
                if not item.done and _is_over(began, limits):
                    yield not_begun(item.cell, limits)
                    continue
                ahead.before(item.cell)
                result = self.result(item, _left_of(began, limits), wait=False)
                if result is None:
                    claimed_by_others.append(item)
                else:
                    yield result
        finally:  # also when nobody wants more results
            ahead.close()
        for item in claimed_by_others:
            yield self.result(item, _left_of(began, limits), wait=True)

    def prepare(self) -> None:
        self.store.prepare()
        use_compilation_cache()

    @overload
    def result(self, item: Planned, limits: RunLimits, wait: Literal[True]) -> CellResult: ...
    @overload
    def result(self, item: Planned, limits: RunLimits, wait: bool) -> CellResult | None: ...
    def result(self, item: Planned, limits: RunLimits, wait: bool) -> CellResult | None:
        """The result of one cell. Where another run on this store plays it: wait for that, or return None.

        Waiting ends when the seconds allowed for a cell have passed.
        """
        if item.done:
            return self._found(item)
        waiting = Waiting(self.store, item.cell, limits)
        while True:
            with self.store.claim(item.cell.hash) as claimed:
                if claimed and self.store.is_done(item.cell.hash):  # another run has finished it since
                    return self._found(item)
                if claimed:
                    self.store.require_space(item.cell)
                    return play_cell(item, self.store, limits, self.concurrent)
            if not wait:
                return None
            if (late := waiting.given_up()) is not None:
                return late
            time.sleep(POLL_SECONDS)

    def _found(self, item: Planned) -> CellResult:
        self.store.add_names(item.cell, item.names)
        return CellResult(item.cell, "done", new=False)


def _is_over(began: float, limits: RunLimits) -> bool:
    return limits.all_seconds is not None and time.monotonic() - began >= limits.all_seconds


def _left_of(began: float, limits: RunLimits) -> RunLimits:
    """The limits of the next cell, which may take no longer than what is left for all."""
    if limits.all_seconds is None:
        return limits
    left = max(1.0, round(limits.all_seconds - (time.monotonic() - began)))  # whole, as messages name it
    return replace(limits, cell_seconds=left if limits.cell_seconds is None else min(left, limits.cell_seconds))


def engine(store: Store) -> Engine:
    return Local(store)
