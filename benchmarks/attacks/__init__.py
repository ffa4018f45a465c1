"""Attacks on what is stored, downloaded, read and printed, each a function that gives a `Score`.

`benchmarks/attack.py` runs all of them at length; `tests/attack/` runs short versions.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.play.simulate import Outcome
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import ProblemSpec

TRIALS = 3
POINTS = 20


@dataclass
class Score:
    attack: str
    tried: int = 0
    silent: int = 0  # wrong numbers, or damage, that no reader names
    lost: int = 0  # what the attack had not touched and is gone all the same
    crashed: int = 0  # tracebacks, exit codes of a crash
    hung: int = 0  # no answer, or no end

    @property
    def withstood(self) -> bool:
        return self.tried > 0 and (self.silent, self.lost, self.crashed, self.hung) == (0, 0, 0, 0)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        self.tried += 1
        try:
            yield
        except Exception:
            self.crashed += 1
            traceback.print_exc()


def made_cell(number: int) -> Cell:
    problem = replace(problems.get("wheel-0.5"), horizon=100 * POINTS)
    return Cell(f"LinPost{number}", "wheel-0.5", policies.get("LinPost"), problem, TRIALS, number)


def made_outcome(number: int) -> Outcome:
    random = np.random.default_rng(number)
    curve = np.cumsum(random.random((TRIALS, POINTS)), axis=1)
    columns = {"cumulative": curve[:, -1], "simple": random.random(TRIALS)}
    columns |= {f"{name}_expected": values + 1 for name, values in list(columns.items())}
    return Outcome(
        columns=columns,
        curves={"curve": curve, "curve_expected": curve + 1},
        steps=np.arange(1, POINTS + 1) * 100,
        action_counts=random.integers(1, 9, (TRIALS, 5)),
        spec=ProblemSpec(2, 5),
        compile_seconds=1.0,
        run_seconds=2.0,
        batch_trials=TRIALS,
    )


def write_cell(store: Store, number: int) -> Cell:
    cell = made_cell(number)
    about = {"finished": f"2026-01-01T00:00:00.{number:03}+00:00", "versions": {"showdown": "0"}}
    store.write_done(cell, [(cell.policy_name, cell.problem_name)], made_outcome(number), about)
    return cell


def made_store(directory: Path, cells: int) -> list[Cell]:
    store = Store(directory)
    return [write_cell(store, number) for number in range(cells)]


def rows_by_cell(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(cell): rows.reset_index(drop=True) for cell, rows in frame.groupby("cell")}


def judge(score: Score, directory: Path, before: dict[str, pd.DataFrame], touched: set[str]) -> None:
    """Read the store and compare: a touched cell may be left out if it is named, no other may be missing."""
    store = Store(directory)
    after = rows_by_cell(store.frame())
    told = " ".join(store.warnings)
    for cell, rows in before.items():
        if cell in after:
            score.silent += not rows.equals(after[cell])
        elif cell not in touched:
            score.lost += 1
        else:
            score.silent += cell not in told
    score.silent += bool(after.keys() - before.keys())


def call(*arguments: str) -> int:
    """A command in this process; its exit code."""
    from showdown.cli.main import main

    sys.argv = ["showdown", *arguments]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            main()
        except SystemExit as stop:
            return int(stop.code or 0)
    return 0
