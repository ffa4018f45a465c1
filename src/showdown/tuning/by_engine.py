"""Candidates played by an engine of `showdown run`, each as a cell of its own: several processes, or a cluster.

Populations are faster where candidates share a structure; an engine where each candidate is a program of its own.
"""

from __future__ import annotations

from dataclasses import replace

from showdown.basics.errors import ShowdownError
from showdown.bench.cell import Cell
from showdown.bench.engine import Limits, make_engine
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.tuning.population import FINAL, Names, Player, Progress


def by_engine(name: str, limits: Limits) -> Player:
    def play(cells: list[Cell], names: Names, store: Store, progress: Progress | None) -> None:
        def report(cell: Cell, steps: int) -> None:
            if progress is not None:
                progress(steps)

        planned = [Planned(cell, names[cell.hash], done=False) for cell in cells]
        for result in make_engine(name, store).run(planned, replace(limits, progress=report)):
            if result.status not in FINAL:
                raise ShowdownError(f"{result.cell.label}: {result.status}: {result.reason}")

    return play
