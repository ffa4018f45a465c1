"""What fits into the budget: how long cells should take on this machine, as busy as it is, and which end in time.

Compiling is most of a short budget, and a Council's program takes ten times as long to compile as a linear one. So a
method that would not end in time is not begun, and the cheap ones come first.
"""

from __future__ import annotations

import dataclasses
import heapq
from dataclasses import dataclass, field

from showdown.bench.cell import Cell
from showdown.bench.estimate import parts_of_each
from showdown.bench.store import Store
from showdown.problems.own_table import Table

START_SECONDS = 4.0  # a new process, and to load a program that was compiled before
CHEAP_SECONDS = 8.0  # a cell that takes less is not worth a process of its own
FIRST_ROUND = 0.5  # of the time left after compiling, that the first round may take; else trials are shortened
SHORTEST = 1000  # steps that trials are not shortened below


@dataclass
class Forecast:
    store: Store
    processes: int
    crowding: float = 1.0  # how many times slower than an idle machine this one is
    pace: dict[str, float] = field(default_factory=dict)  # policy to seconds per trial, as measured in this contest
    here: set[str] = field(default_factory=set)  # policies whose programs this process holds

    def seconds(self, cell: Cell) -> float:
        if self.store.is_done(cell.hash):
            return 0.0
        if cell.policy_name in self.pace:
            start = 0.0 if cell.policy_name in self.here else START_SECONDS * self.crowding
            return start + self.pace[cell.policy_name] * cell.trials
        return self.crowding * sum(parts_of_each([cell], self.store)[0])

    def is_cheap(self, cell: Cell) -> bool:
        """By what was measured; before that, whatever trains is expensive, as its rough estimate may be far off."""
        known = cell.policy_name in self.pace or not cell.policy.refit_every
        return known and self.seconds(cell) < CHEAP_SECONDS * self.crowding

    def fitting(self, cells: list[Cell], left: float, processes: int) -> list[Cell]:
        """Those that should end in time if they are begun in this order, each as soon as a process is free."""
        free_at = [0.0] * processes
        chosen = []
        for cell in cells:
            ends = free_at[0] + self.seconds(cell)
            if ends <= left:
                heapq.heapreplace(free_at, ends)
                chosen.append(cell)
        return chosen

    def shortened(self, problem: Table, cells: list[Cell], left: float) -> Table:
        """The problem with all of its rows or, where the first round would take too long, with fewer.

        Where even the shortest trials do not fit, the most expensive methods do not count: they will not be played.
        """
        parts = sorted(parts_of_each(cells, self.store), key=sum)
        room = left * self.processes / self.crowding
        while parts:
            ratio = FIRST_ROUND * (room - sum(one for one, _ in parts)) / max(sum(one for _, one in parts), 1e-9)
            if ratio >= 1:
                return problem
            if ratio * problem.horizon >= SHORTEST:
                return dataclasses.replace(problem, horizon=int(problem.horizon * ratio))
            parts.pop()
        return dataclasses.replace(problem, horizon=min(problem.horizon, SHORTEST))
