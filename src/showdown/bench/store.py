"""The store: a folder of immutable cells, each a JSON record and, when it is done, a Parquet table of its trials.

    DIR/cells/HASH.json      status, configuration, versions, hardware, seconds, what the policy tells of itself (the
                             largest of its trials): the record that makes a cell exist
    DIR/cells/HASH.parquet   one row per trial: the metrics, action counts, the curve at the checkpoints

Both are written under a temporary name and renamed, the table first, so a reader or a second writer never sees half a
cell. Only `done` counts as already there; every other status is kept, with its reason, and tried again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from showdown.bench.cell import Cell
from showdown.bench.record import About, NotARecord, Record, read_record
from showdown.config import canonical
from showdown.errors import ShowdownError, UsageError
from showdown.files import TEMPORARY, write_atomically
from showdown.metrics import per_checkpoint, per_trial, required
from showdown.simulate import Outcome

_CELL_COLUMNS = (
    *("cell", "policy", "problem", "data", "horizon", "seed", "trials", "labels"),
    *("compile_seconds", "run_seconds"),
)
_CONCURRENT = "beside"  # the frame's name of `Record.concurrent`

Names = list[tuple[str, str]]  # (policy, problem) as a user would write them


class Store:
    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.warnings: list[str] = []  # files that were left out, each with its reason
        self._tables: dict[str, pd.DataFrame] = {}  # read before: reading is most of the time of a report

    def _path(self, cell_hash: str, suffix: str) -> Path:
        return self.directory / "cells" / f"{cell_hash}{suffix}"

    def is_done(self, cell_hash: str) -> bool:
        """Whether the cell can be read back; a broken one is played again."""
        reader = Store(self.directory)  # with warnings of its own, which nobody is to hear
        record = reader._read_record(self._path(cell_hash, ".json"))
        return record is not None and record.is_done and reader.trials(record) is not None

    def prepare(self) -> None:
        """Find out whether anything can be kept here, before hours are spent."""
        probe = self.directory / "cells" / f"{TEMPORARY}probe-{os.getpid()}"  # a name that readers ignore
        self._write(probe, lambda temporary: None)
        probe.unlink(missing_ok=True)

    def write_done(self, cell: Cell, names: Names, outcome: Outcome, about: About) -> None:
        table = pd.DataFrame(outcome.columns)
        table.insert(0, "trial", range(len(table)))
        table["action_counts"] = list(outcome.action_counts)
        for name, curve in outcome.curves.items():  # to be drawn, not added up: float32 halves the file
            table[name] = list(curve.astype("float32"))
        path = self._path(cell.hash, ".parquet")
        self._tables.pop(cell.hash, None)
        self._write(path, lambda temporary: table.to_parquet(temporary, index=False, compression="zstd"))
        record = Record(
            **self._asked(cell, names),
            status="done",
            checkpoints=tuple(outcome.steps.tolist()),
            context_dim=outcome.spec.context_dim,
            num_actions=outcome.spec.num_actions,
            labels=cell.problem.has_labels,
            compile_seconds=outcome.compile_seconds,
            run_seconds=outcome.run_seconds,
            batch_trials=outcome.batch_trials,
            diagnostics=outcome.largest_diagnostics(),
            **about,
        )
        self._write_json(self._path(cell.hash, ".json"), record.to_json())

    def write_failed(self, cell: Cell, names: Names, status: str, reason: str, about: About) -> None:
        """Keep what went wrong; a finished cell that another process stored meanwhile is left alone."""
        if not self.is_done(cell.hash):
            record = Record(**self._asked(cell, names), status=status, reason=reason, **about)
            self._write_json(self._path(cell.hash, ".json"), record.to_json())

    def add_names(self, cell: Cell, names: Names) -> None:
        """Let a stored cell also be found under `names`: presets that mean the same share one cell."""
        path = self._path(cell.hash, ".json")
        record = self._read_record(path)
        if record is not None and any(name not in record.names for name in names):
            data = json.loads(path.read_text(encoding="utf-8"))  # with what a later version may have added
            self._write_json(path, {**data, "names": self._all_names(path, names)})

    def _asked(self, cell: Cell, names: Names) -> dict[str, Any]:
        """The fields of a record that say what was asked for."""
        return {
            "cell": cell.hash,
            "names": self._all_names(self._path(cell.hash, ".json"), names),
            "horizon": cell.problem.horizon,
            "seed": cell.seed,
            "trials": cell.trials,
            "identity": cell.identity,
        }

    def _all_names(self, path: Path, names: Names) -> tuple[tuple[str, str], ...]:
        """`names` after those the cell already goes by: another process may have played it under its own."""
        record = self._read_record(path)
        return tuple(dict.fromkeys([*(record.names if record is not None else ()), *names]))

    def _write_json(self, path: Path, record: dict[str, Any]) -> None:
        text = json.dumps(record, indent=1, ensure_ascii=False)
        self._write(path, lambda temporary: Path(temporary).write_text(text + "\n", encoding="utf-8"))

    def _write(self, path: Path, write: Callable[[str], Any]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write to {self.directory}: {error.strerror}") from None
        try:
            write_atomically(path, write)
        except OSError as error:
            raise ShowdownError(f"cannot write to {self.directory}: {error.strerror or error}") from None

    def cells(self) -> list[Record]:
        """Every readable record, oldest first, once for each (policy, problem) name it goes by.

        Files that are none of ours are named in `warnings` and left out.
        """
        self.warnings = []
        folder = self.directory / "cells"
        if not folder.is_dir():
            return []
        records = []
        for path in sorted(folder.iterdir()):
            if path.name.startswith(TEMPORARY) or path.suffix == ".parquet":
                continue
            record = self._read_record(path)
            if record is not None:
                records += [replace(record, policy=policy, problem=problem) for policy, problem in record.names]
        return sorted(records, key=lambda record: record.finished)

    def _read_record(self, path: Path) -> Record | None:
        try:
            record = read_record(json.loads(path.read_text(encoding="utf-8")))
            if record.cell != path.stem:
                raise NotARecord("does not hold what the record of a cell must (cell)")
        except FileNotFoundError:
            return None
        except NotARecord as error:
            self.warnings.append(f"{path.name} {error} and was left out")
        except (OSError, ValueError) as error:
            self.warnings.append(f"{path.name} cannot be read ({type(error).__name__}) and was left out")
        else:
            return record
        return None

    def trials(self, record: Record) -> pd.DataFrame | None:
        """The trials of a done cell, curves included; None, with a warning, if its table is missing or broken.

        Each table is read once. One that was written before a metric existed lacks its column, and is whole.
        """
        if record.cell not in self._tables:
            table = self._read_table(record)
            if table is None:
                return None
            self._tables[record.cell] = table
        return self._tables[record.cell]

    def _read_table(self, record: Record) -> pd.DataFrame | None:
        path = self._path(record.cell, ".parquet")
        try:
            table = pd.read_parquet(path)
        except Exception as error:  # pyarrow raises many kinds for a broken file
            self.warnings.append(f"{path.name} cannot be read ({type(error).__name__}) and was left out")
            return None
        if not _is_table_of(table, record):
            self.warnings.append(f"{path.name} does not hold the {record.trials} trials of its record and was left out")
            return None
        return table

    def frame(self) -> pd.DataFrame:
        """One row per (cell, trial) of every done cell; NaN in the columns of metrics that it does not hold."""
        numbers = ["trial", *per_trial()]
        records, parts = [], []
        for record in self.cells():
            table = self.trials(record) if record.is_done else None
            if table is not None:
                records.append(_row(record))
                parts.append(table.reindex(columns=numbers))
        if not parts:
            return pd.DataFrame(columns=[*_CELL_COLUMNS, _CONCURRENT, *numbers])
        rows = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        cells = pd.DataFrame(records, columns=[*_CELL_COLUMNS, _CONCURRENT]).iloc[rows].reset_index(drop=True)
        return pd.concat([cells, pd.concat(parts, ignore_index=True)], axis=1)


def _row(record: Record) -> dict[str, Any]:
    values = {name: getattr(record, name, None) for name in _CELL_COLUMNS}
    return {**values, "data": _data_of(record), _CONCURRENT: record.concurrent}


def _is_table_of(table: pd.DataFrame, record: Record) -> bool:
    """Whether a table holds the trials of a done cell: every column, numbers in it, a value for each checkpoint."""
    curves = list(per_checkpoint())
    numbers, lists = ["trial", *required()], ["action_counts", *curves]
    if len(table) != record.trials or not {*numbers, *lists} <= set(table):
        return False
    numbers += [name for name in per_trial() if name in table and name not in numbers]
    if not all(pd.api.types.is_numeric_dtype(table[name]) and np.isfinite(table[name]).all() for name in numbers):
        return False
    points = len(record.checkpoints)
    return all(isinstance(item, np.ndarray) for name in lists for item in table[name]) and all(
        len(item) == points for name in curves for item in table[name]
    )


def _data_of(record: Record) -> str:
    """What a problem's numbers come from, whatever its name and horizon: a file's content may change under one name."""
    problem = {name: item for name, item in record.identity["problem"].items() if name != "horizon"}
    return hashlib.sha256(canonical(problem).encode()).hexdigest()[:12]
