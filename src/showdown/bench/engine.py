"""What plays the cells of a plan: an engine, found by the name of its file in `bench/engines/`.

A file there that defines `engine(store) -> Engine` is an engine; nothing else has to be changed to add one. Names that
begin with an underscore are parts of engines.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from showdown.basics.discover import defined
from showdown.basics.errors import UsageError
from showdown.bench import engines
from showdown.bench.cell import Cell
from showdown.bench.plan import Planned
from showdown.bench.store import Store

Progress = Callable[[Cell, int], None]  # the cell being played, trial-steps just played; 0: it begins with compiling
Say = Callable[[str], None]  # a sentence for the user, while a run goes on


@dataclass(frozen=True)
class CellResult:
    """What became of one cell."""

    cell: Cell
    status: str  # done, diverged, timeout, error or skipped
    reason: str = ""
    new: bool = True  # played now, rather than found in the store
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    diagnostics: dict[str, float] = field(default_factory=dict)  # the largest over trials; of a cell played now


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """What a run may take, and what an engine needs to know besides the cells."""

    batch_trials: int | None = None  # trials that are played at once; None: as many as fit
    cell_seconds: float | None = None  # a cell that takes longer is given up
    all_seconds: float | None = None  # when they have passed, what is not finished is given up (local and processes)
    processes: int = 1  # cells that are played at the same time
    address: str | None = None  # of a running Ray cluster; None: one on this machine, with `processes` workers
    cell_cpus: float = 1.0  # what a cell asks the cluster for
    cell_gpus: float | None = None  # None: one, if the cluster has any
    load: tuple[Path, ...] = ()  # files with policies or problems of the user's, for other processes to load
    progress: Progress | None = None
    say: Say | None = None

    def __post_init__(self) -> None:
        if self.batch_trials is not None and self.batch_trials < 1:
            raise UsageError(f"batch_trials must be at least 1, not {self.batch_trials}")
        if self.cell_seconds is not None and not self.cell_seconds >= 0:
            raise UsageError(f"cell_seconds must not be negative, and is {self.cell_seconds:g}")
        if self.processes < 1:
            raise UsageError(f"processes must be at least 1, not {self.processes}")
        for name, amount in (("cell_cpus", self.cell_cpus), ("cell_gpus", self.cell_gpus)):
            if amount is not None and not 0 <= amount < 10_000:
                raise UsageError(f"{name} must not be negative, and is {amount:g}")


class Engine(Protocol):
    def run(self, planned: Iterable[Planned], limits: RunLimits) -> Iterator[CellResult]:
        """Yield a result per cell. A cell that fails is stored with its reason and the others go on."""


def engine_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(engines.__path__) if module.name[0] != "_")


def make_engine(name: str, store: Store) -> Engine:
    known = engine_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise UsageError(f"no engine is called {name!r}; {hint}")
    module = importlib.import_module(f"{engines.__name__}.{name}")
    return defined(module, "engine")(store)
