"""What `run` and `plan` print: a plan and its time, how it is divided, and the table that a run ends with."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from showdown.cli import console
from showdown.metrics import MAIN, METRICS

if TYPE_CHECKING:
    from showdown.analysis.table import Table
    from showdown.bench.cell import Cell
    from showdown.bench.engine import CellResult
    from showdown.bench.plan import Planned
    from showdown.bench.store import Store


BASELINE = METRICS[MAIN].baseline  # what the numbers of others are shown in per cent of


def measure_speed(planned: list[Planned]) -> None:
    """Measure every family of policies in the plan by a short run, and keep the rates for later estimates."""
    from showdown.bench.calibrate import calibrate

    for name, measured in calibrate([item.cell for item in planned]):
        step, operation = measured.rates
        per_operation = f", {operation * 1e9:.3g} ns per operation" if operation else ""
        console.warn(f"{name}: {step * 1e6:.3g} µs per step and trial{per_operation}")


def print_plan(name: str, planned: list[Planned], store: Store, as_json: bool) -> None:
    from showdown.bench.estimate import estimate_seconds

    todo = [item.cell for item in planned if not item.done]
    seconds, known = estimate_seconds(todo, store) if todo else (0.0, 0)
    if as_json:
        rows = [{**row(item.cell), "done": item.done} for item in planned]
        console.data_json({"cells": rows, "estimated_seconds": seconds, "measured_cells": known})
        return
    for item in planned:
        cell = item.cell
        size = f"{cell.trials} trials × {cell.problem.horizon} steps, seed {cell.seed}"
        console.data(f"{'done ' if item.done else 'to do'}  {cell.label}  ({size})")
    basis = "from measured rates" if todo and known == len(todo) else "a rough guess for what was never run here"
    summary = f"about {duration(seconds)}, {basis}" if todo else "nothing to do"
    console.data(f"{name}: {len(planned)} cells, {len(planned) - len(todo)} already done; {summary}")


def print_shards(name: str, shards: list[list[Planned]], store: Store, as_json: bool) -> None:
    """Print what each shard plays; seconds count only cells that are not stored yet."""
    from showdown.bench.estimate import estimate_seconds

    rows: list[dict[str, Any]] = []
    for number, cells in enumerate(shards, 1):
        todo = [item.cell for item in cells if not item.done]
        seconds = estimate_seconds(todo, store)[0] if todo else 0.0
        listed = [{**row(item.cell), "done": item.done} for item in cells]
        rows.append({"shard": f"{number}/{len(shards)}", "estimated_seconds": seconds, "cells": listed})
    if as_json:
        console.data_json({"shards": rows})
        return
    for each in rows:
        done = sum(cell["done"] for cell in each["cells"])
        about = f"about {duration(each['estimated_seconds'])}" if len(each["cells"]) > done else "nothing to do"
        console.data(f"shard {each['shard']}: {len(each['cells'])} cells, {done} already done; {about}")
    longest = max(each["estimated_seconds"] for each in rows)
    console.data(f"{name}: {sum(map(len, shards))} cells; the longest shard about {duration(longest)}")


def row(cell: Cell) -> dict[str, Any]:
    """The description of a cell as plain data."""
    return {
        "policy": cell.policy_name,
        "problem": cell.problem_name,
        "horizon": cell.problem.horizon,
        "trials": cell.trials,
        "seed": cell.seed,
        "cell": cell.hash,
    }


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@dataclass
class Board:
    """The leaderboard while it fills: a line for every cell as soon as it is finished."""

    store: Store
    total: int  # cells
    finished: int = 0
    uniform: dict[str, float] = field(default_factory=dict)  # by problem: Uniform's mean regret, once it is played
    standing: dict[str, dict[str, float]] = field(default_factory=dict)  # by problem: the mean regret of each policy

    def line(self, result: CellResult) -> str:
        """The place and the number of a finished cell among those of its problem that are finished; else its status."""
        self.finished += 1
        cell, count = result.cell, f"{self.finished}/{self.total}"
        regret = self._regret(cell) if result.status == "done" else None
        if regret is None:
            return f"{count} {cell.label}: {result.status}"
        if cell.policy_name == BASELINE:
            self.uniform[cell.problem_name] = regret
            return f"{count} {cell.label}: regret {regret:.4g}, which counts as 100 %"
        here = self.standing.setdefault(cell.problem_name, {})
        here[cell.policy_name] = regret
        place = 1 + sum(other < regret for other in here.values())
        of = self.uniform.get(cell.problem_name, 0.0)
        shown = f"{100 * regret / of:.1f} % of {BASELINE}" if of > 0 else f"regret {regret:.4g}"
        return f"{count} {cell.label}: {shown}, place {place} of {len(here)} so far"

    def _regret(self, cell: Cell) -> float | None:
        record = self.store.record(cell.hash)
        table = self.store.trials(record) if record is not None else None
        return None if table is None else float(table[MAIN].mean())


def closing_lines(table: Table, out: Path) -> list[str]:
    """What won, by how much, and what to type next."""
    found = table.verdict
    said = [f"in short: {found.short}"] if found is not None and found.best is not None else []
    return [
        *said,
        f"as a page: {own_name()} report {shlex.quote(str(out))} --open",
        f"on a table of your own: {own_name()} recommend FILE --label COLUMN",
    ]


def own_name() -> str:
    """How to type this command: by its path where a shell would not find it, as after `make run`."""
    hidden = Path(sys.argv[0]).name == "showdown" and shutil.which("showdown") is None
    return shlex.quote(sys.argv[0]) if hidden else "showdown"


def closing_table(store: Store, cells: list[Cell]) -> Table | None:
    """The table of a run's finished cells, without anything else in the store; None if no cell finished."""
    from showdown.analysis.build_table import build_table
    from showdown.analysis.play_details import play_details
    from showdown.analysis.selection import select
    from showdown.analysis.table import TableRequest

    records = store.cells()
    frame = store.frame(records)
    mine = frame[frame["cell"].isin([cell.hash for cell in cells])] if len(frame) else frame
    if mine.empty:
        return None
    mine = mine[mine["policy"].isin([cell.policy_name for cell in cells])]
    details = play_details(store, records, mine["cell"])
    problems = list(dict.fromkeys(mine["problem"]))
    several = len(problems) > 1
    request = TableRequest(rank=several, sort="rank" if several else problems[0])
    return build_table(select(mine), request, details)


def print_table(table: Table) -> None:
    """Print a table that fits the terminal, with colours there and plain elsewhere."""
    from showdown.report.formats import text

    console.data_table(text.parts(table, console.width()))
