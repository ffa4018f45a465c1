"""How long cells should take: from what this machine has measured, else from a rough count of operations on a CPU.

Measured is the same policy on the same problem in this store, for another number of steps or trials; else its family,
by `showdown run SUITE --dry-run --calibrate`. Policies count their work; a measurement says how many seconds a piece of
it takes here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax

from showdown.bench.calibrate import Calibration, beginning, calibration, this_machine
from showdown.bench.cell import Cell
from showdown.bench.cost_model import compile_seconds, family, seconds, shuffled_rows, work_of
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.play.batch_size import cores_at_play

ROW_SECONDS = 2e-7  # to put one row of a table in its place in the order of a trial


def estimate_seconds(cells: list[Cell], store: Store) -> tuple[float, int]:
    """Seconds for all of `cells` together, and for how many of them that rests on measured rates."""
    known = _Known.of(store)
    return sum(seconds_of_each(cells, store).values()), sum(known.has(cell) for cell in cells)


def parts_of_each(cells: list[Cell], store: Store) -> list[tuple[float, float]]:
    """Seconds to compile and seconds to play each cell, as if it were the only one."""
    known = _Known.of(store)
    return [(known.compile_seconds(cell), known.seconds(cell)) for cell in cells]


def seconds_of_each(cells: list[Cell], store: Store) -> dict[str, float]:
    """Seconds of every cell by its hash, with compiling for the first one of each kind of program."""
    known = _Known.of(store)
    seen: set[tuple[str, str]] = set()
    found = {}
    for cell in cells:
        kind = _static(cell.policy), _static(cell.problem)
        found[cell.hash] = known.seconds(cell) + (known.compile_seconds(cell) if kind not in seen else 0.0)
        seen.add(kind)
    return found


def rough_seconds(cell: Cell) -> float:
    """From the count of operations alone, compiling included: the same on every machine that has the data."""
    shuffling, work = cell.trials * shuffled_rows(cell)[1] * ROW_SECONDS, work_of(cell)
    return shuffling + seconds(work) + compile_seconds(work)


def longest_first(planned: list[Planned], store: Store) -> list[Planned]:
    """In this order cells that share a machine end at about the same time."""
    known = _Known.of(store)
    return sorted(planned, key=lambda item: known.seconds(item.cell), reverse=True)


@dataclass(frozen=True)
class _Known:
    """What is known of the speed of this machine."""

    played: dict[tuple[str, str], tuple[float, int, int]]  # seconds, trials and horizon of a stored cell, by names
    families: Calibration

    @classmethod
    def of(cls, store: Store) -> _Known:
        here = this_machine()
        played = {
            (record.policy, record.problem): (record.run_seconds, record.trials, record.horizon)
            for record in store.cells()
            if record.is_done and record.hardware.get("device", here) == here
        }
        return cls(played, calibration())

    def has(self, cell: Cell) -> bool:
        return _names(cell) in self.played or family(cell) in self.families

    def seconds(self, cell: Cell) -> float:
        """To play it, once compiled."""
        expected = self._modelled(cell)
        if _names(cell) not in self.played:
            return expected
        took, trials, horizon = self.played[_names(cell)]
        rows = cell.problem.longest(cell.problem.load())
        if rows is not None and rows < horizon:  # another table of the same name
            return expected
        shorter = replace(cell, trials=trials, problem=cell.problem.with_horizon(horizon))
        return took * expected / max(self._modelled(shorter), 1e-9)

    def _modelled(self, cell: Cell) -> float:
        """From its work; the beginning of its episodes included."""
        rates = self.families[family(cell)].rates if family(cell) in self.families else None
        kind, rows = shuffled_rows(cell)
        known = self.families.get(beginning(kind))
        begun = cell.trials * (known.rates.step if known else rows * ROW_SECONDS)
        return (begun + seconds(work_of(cell), rates)) / cores_at_play(cell.policy, cell.trials)

    def compile_seconds(self, cell: Cell) -> float:
        return self.families[family(cell)].compile if family(cell) in self.families else compile_seconds(work_of(cell))


def _names(cell: Cell) -> tuple[str, str]:
    return cell.policy_name, cell.problem_name


def _static(value: Any) -> str:
    return str(jax.tree.structure(value))
