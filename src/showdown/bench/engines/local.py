"""Play the cells of a plan in this process, one after another, and store each as soon as it is finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from showdown.bench.compilation_cache import use_compilation_cache
from showdown.bench.engine import Engine, Limits, Result
from showdown.bench.plan import Planned
from showdown.bench.play_cell import play_cell
from showdown.bench.store import Store


@dataclass(frozen=True)
class Local:
    store: Store
    concurrent: int = 0  # other processes that play at the same time; recorded with each cell

    def run(self, planned: Iterable[Planned], limits: Limits) -> Iterator[Result]:
        self.store.prepare()
        use_compilation_cache()
        for item in planned:
            if item.done or self.store.is_done(item.cell.hash):  # another process may have finished it meanwhile
                self.store.add_names(item.cell, item.names)
                yield Result(item.cell, "done", new=False)
            else:
                yield play_cell(item, self.store, limits, self.concurrent)


def engine(store: Store) -> Engine:
    return Local(store)
