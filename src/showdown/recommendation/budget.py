"""How long a recommendation may take, how busy this machine is, and which cells end in time.

Compiling is most of a short budget, and a Council's program takes ten times as long to compile as a linear one. So a
method that would not end in time is not begun, and the cheap ones come first.
"""

from __future__ import annotations

import hashlib
import heapq
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from showdown.analysis.ranks import REFERENCES
from showdown.basics.errors import UsageError
from showdown.bench.cell import Cell
from showdown.bench.cost_model import compile_seconds, seconds, work_of
from showdown.bench.estimate import parts_of_each
from showdown.bench.store import Store
from showdown.problems.own_table import Table

DEFAULT = "5m"
# For measuring decisions and drawing the page: a tenth, but at least some seconds, and more on a busy machine.
RESERVED, RESERVED_SECONDS, MOST_RESERVED = 0.1, 10.0, 0.4
_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    """The seconds of a budget; it needs a unit, since 3 may mean seconds to one person and minutes to another."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh])\s*", str(text))
    if not found or not float(found[1]):
        raise UsageError(f"a budget is a time with its unit, such as 90s, 2m, 10m or 1h, not {text!r}")
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class TimeBudget:
    seconds: float
    slowdown: float = 1.0  # how many times slower than an idle machine this one is
    began: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds left for playing."""
        reserved = max(RESERVED * self.seconds, RESERVED_SECONDS * self.slowdown)
        return self.seconds - min(reserved, MOST_RESERVED * self.seconds) - self.elapsed


PROBE_SECONDS = 0.2
_BLOCK = bytes(1 << 20)  # hashing a megabyte releases Python's lock


def slowdown(threads: int) -> float:
    """How many times longer `threads` busy threads take here than if each had a core to itself; at least 1."""
    end = time.monotonic() + PROBE_SECONDS
    began, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: _hash_until(end), range(threads)))
    elapsed, used = time.perf_counter() - began, time.process_time() - used
    return max(1.0, elapsed * threads / max(used, 1e-9))


def _hash_until(end: float) -> None:
    while time.monotonic() < end:
        hashlib.sha256(_BLOCK).digest()


START_SECONDS = 4.0  # a new process, and to load a program that was compiled before
CHEAP_SECONDS = 8.0  # a cell that takes less is not worth a process of its own
FIRST_ROUND = 0.5  # of the time left after compiling, that the first round may take; else trials are shortened
WORTH_A_METHOD = 2.0  # times as many steps
SHORTEST = 1000  # steps: before trials get shorter, methods are left out
LONG_ENOUGH = 4000  # steps: no method is left out for trials that are longer than this
LONG = 20_000  # steps: of trials that could be longer, the first rounds play a part, and what is in front plays on
PART = 1 / 3
LONGER = 1.5  # times as many steps, for which it is worth to begin again
FEWEST_STEPS = 200  # of the cheapest method alone
LEAST_ROOM = 0.1  # of the time, that playing it may take whatever compiling takes: a short trial compiles as long


@dataclass
class Forecast:
    store: Store
    processes: int
    slowdown: float = 1.0  # how many times slower than an idle machine this one is
    pace: dict[str, float] = field(default_factory=dict)  # policy to seconds per trial, as measured since it began
    here: set[str] = field(default_factory=set)  # policies whose programs this process holds
    _done: dict[str, bool] = field(default_factory=dict)  # by hash: whether the store holds the cell
    _parts: dict[str, tuple[float, float]] = field(default_factory=dict)  # by hash: seconds to compile and to play

    def is_done(self, cell: Cell) -> bool:
        """Whether the store holds the cell. It is asked once for each cell: engines ask again before they play."""
        if cell.hash not in self._done:
            self._done[cell.hash] = self.store.is_done(cell.hash)
        return self._done[cell.hash]

    def parts(self, cells: list[Cell]) -> list[tuple[float, float]]:
        """Seconds to compile and to play each cell on an idle machine. The cost model is built once for all of them."""
        new = [cell for cell in cells if cell.hash not in self._parts]
        if new:
            self._parts.update(zip([cell.hash for cell in new], parts_of_each(new, self.store), strict=True))
        return [self._parts[cell.hash] for cell in cells]

    def seconds(self, cell: Cell) -> float:
        if self.is_done(cell):
            return 0.0
        if cell.policy_name in self.pace:
            start = 0.0 if cell.policy_name in self.here else START_SECONDS * self.slowdown
            return start + self.pace[cell.policy_name] * cell.trials
        return self.slowdown * sum(self.parts([cell])[0])

    def is_cheap(self, cell: Cell) -> bool:
        """Whether a cell is not worth a process. Until it is measured, whatever trains counts as expensive."""
        known = cell.policy_name in self.pace or not cell.policy.refit_every
        return known and self.seconds(cell) < CHEAP_SECONDS * self.slowdown

    def fitting(self, cells: list[Cell], left: float, processes: int) -> list[Cell]:
        """The cells that should end in time if they are begun in this order, each as soon as a process is free."""
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

        The most expensive method does not count where trials would be too short, or are short and the others could play
        twice as many steps without it: a verdict on a small part of the rows may be wrong for all of them, and a method
        that is not played is at least named. The cheapest method always counts: it is played for as many steps as there
        is time, so that even a wide table gets an answer. What is left of a long table is for `lengthened`.
        """
        each = list(zip(cells, self.parts(cells), strict=True))
        always = [seconds for cell, seconds in each if cell.policy_name in REFERENCES]
        parts = sorted((seconds for cell, seconds in each if cell.policy_name not in REFERENCES), key=sum)
        room = left * self.processes / self.slowdown
        while len(parts) > 1:
            share, without = (_share_of_steps([*always, *some], room) for some in (parts, parts[:-1]))
            if share == 1:
                return problem
            steps = int(problem.horizon * share)
            if steps >= SHORTEST and (steps >= LONG_ENOUGH or without < WORTH_A_METHOD * share):
                return problem.with_horizon(max(min(steps, LONG), int(PART * steps)))
            parts.pop()
        steps = int(problem.horizon * _share_of_steps([*always, *parts], room, least=LEAST_ROOM))
        return problem.with_horizon(min(problem.horizon, max(FEWEST_STEPS, steps)))

    def lengthened(self, cells: list[Cell], rows: int, left: float) -> int:
        """How many steps the cells, which were played with more trials, could have in half of the time left.

        All of the rows, half, a quarter of them and so on; 0 where that is hardly more than they have.
        """
        steps = rows
        while cells and steps >= LONGER * cells[0].problem.horizon:
            longer = [replace(cell, problem=cell.problem.with_horizon(steps)) for cell in cells]
            if sum(map(self._longer_seconds, cells, longer)) <= FIRST_ROUND * left:
                return steps
            steps //= 2
        return 0

    def _longer_seconds(self, cell: Cell, longer: Cell) -> float:
        """What the longer cell should take, compiling included, from the pace of the shorter one."""
        if self.is_done(longer):
            return 0.0
        if cell.policy_name not in self.pace:  # the shorter one was in the store, so nothing was measured
            return self.slowdown * sum(self.parts([longer])[0])
        ratio = seconds(work_of(longer)) / max(seconds(work_of(cell)), 1e-9)
        return self.slowdown * compile_seconds(work_of(longer)) + self.pace[cell.policy_name] * cell.trials * ratio


def _share_of_steps(parts: list[tuple[float, float]], room: float, least: float = 0.0) -> float:
    """The share of a trial's steps for which the first round fits; `parts` are seconds to compile and to play.

    `least` is the share of the room that playing may take even if compiling takes all of it.
    """
    compiling, playing = sum(one for one, _ in parts), sum(one for _, one in parts)
    return min(1.0, max(least * room, FIRST_ROUND * (room - compiling), 0.0) / max(playing, 1e-9))
