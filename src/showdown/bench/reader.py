"""Reading a store: every record and table is checked, and what is damaged is named and left out.

Checked are the types and ranges of a record, its checksum, that its name is the hash of its identity, and the checksum
of its table. A cell that fails is named in `warnings` and left out of every result; `run` plays it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.files import TEMPORARY, read_plain
from showdown.basics.locks import LOCK
from showdown.basics.text import one_line, printable_name
from showdown.bench import record_file, table_file
from showdown.bench.record import NotARecord, Record
from showdown.bench.spelled_names import shortened
from showdown.bench.table_file import NotATable
from showdown.config import canonical
from showdown.metrics import per_trial

_CELL_COLUMNS = (
    *("cell", "policy", "problem", "data", "horizon", "seed", "trials", "labels"),
    *("compile_seconds", "run_seconds"),
)
_CONCURRENT = "beside"  # the frame's name of `Record.concurrent`


class Reader:
    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.folder = self.directory / "cells"
        self.warnings: list[str] = []  # files that were left out, each with its reason
        self.damaged: set[str] = set()  # the cells among them
        self._tables: dict[str, pd.DataFrame] = {}  # read before: reading is most of the time of a report

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self.directory)!r}>"

    def _path(self, cell_hash: str, suffix: str) -> Path:
        return self.folder / f"{cell_hash}{suffix}"

    def is_done(self, cell_hash: str) -> bool:
        """Whether the cell can be read back; a damaged one is not, and joins `damaged`.

        A table with a checksum is hashed, not parsed.
        """
        reader = Reader(self.directory)  # with warnings of its own, which are only about this cell
        record = reader.read_record(self._path(cell_hash, ".json"))
        done = record is not None and record.is_done
        if record is not None and done:
            table = reader._table_bytes(record) if record.verified else reader.trials(record)
            done = table is not None
        self.damaged |= reader.damaged
        return done

    def paths(self) -> list[Path]:
        """Every file that should be a record."""
        if not self.folder.is_dir():
            return []
        ours = (TEMPORARY, LOCK)
        return sorted(
            path for path in self.folder.iterdir() if not path.name.startswith(ours) and path.suffix != ".parquet"
        )

    def cells(self) -> list[Record]:
        """Every readable record, oldest first, once for each (policy, problem) name it goes by.

        Files that are none of ours, and damaged ones, are named in `warnings` and left out.
        """
        self.warnings, self.damaged = [], set()
        records = [record for record in map(self.read_record, self.paths()) if record is not None]
        unverified = sum(not record.verified for record in records)
        if unverified:
            counted = f"{unverified} of {len(records)} cells have no checksum and are unverified"
            self.warnings.append(f"{counted}; `showdown verify --seal {self.directory}` adds it")
        return by_names(records)

    def record(self, cell_hash: str) -> Record | None:
        """The record of one cell; None where there is none that can be read."""
        return self.read_record(self._path(cell_hash, ".json"))

    def read_record(self, path: Path) -> Record | None:
        try:
            return record_file.read_file(path)
        except FileNotFoundError:
            if path.is_symlink():
                self._leave_out(path, NotARecord("is a link to nothing"))
            return None
        except NotARecord as error:
            self._leave_out(path, error)
            return None

    def _leave_out(self, path: Path, why: ValueError) -> None:
        self.warnings.append(one_line(f"{path.name} {why} and was left out"))
        if len(path.stem) == 20 and path.suffix in (".json", ".parquet"):
            self.damaged.add(path.stem)

    def trials(self, record: Record) -> pd.DataFrame | None:
        """The trials of a done cell, curves included; None, with a warning, if its table is missing or damaged.

        Each table is read once. One that was written before a metric existed lacks its column, and is whole.
        """
        if record.cell in self._tables:
            return self._tables[record.cell]
        content = self._table_bytes(record)
        if content is None:
            return None
        try:
            table = table_file.from_bytes(content, record)
        except NotATable as error:
            self._leave_out(self._path(record.cell, ".parquet"), error)
            return None
        self._tables[record.cell] = table
        self.damaged.discard(record.cell)  # it may have been played again since it was found damaged
        return table

    def _table_bytes(self, record: Record) -> bytes | None:
        """The content of a cell's table, if it is the one that its record is about."""
        path = self._path(record.cell, ".parquet")
        try:
            content = read_plain(path, table_file.MOST_BYTES)
            if record.table_sha256 is not None and record_file.sha256(content) != record.table_sha256:
                policy, problem = record.names[0]
                raise NotATable(f"of {policy} on {problem} does not match its checksum")
        except OSError as error:
            self._leave_out(path, NotATable(f"cannot be read ({error.strerror or error})"))
        except NotATable as error:
            self._leave_out(path, error)
        else:
            return content
        return None

    def frame(self, records: list[Record] | None = None) -> pd.DataFrame:
        """One row per (cell, trial) of every done cell; NaN in the columns of metrics that it does not hold.

        `records` are those of `cells`, for who has just read them.
        """
        numbers = ["trial", *per_trial()]
        kept, tables = [], []
        for record in self.cells() if records is None else records:
            table = self.trials(record) if record.is_done and record.cell not in self.damaged else None
            if table is not None:
                kept.append(_row(record))
                tables.append(table)
        if self.damaged:
            counted = f"{len(self.damaged)} damaged {'cell was' if len(self.damaged) == 1 else 'cells were'} left out"
            self.warnings.append(f"{counted}; the `showdown run` that made them plays them again")
        if not tables:
            return pd.DataFrame(columns=[*_CELL_COLUMNS, _CONCURRENT, *numbers])
        rows = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        cells = pd.DataFrame(kept, columns=[*_CELL_COLUMNS, _CONCURRENT]).iloc[rows].reset_index(drop=True)
        return pd.concat([cells, pd.DataFrame({name: _column(tables, name) for name in numbers})], axis=1)


def by_names(records: Iterable[Record]) -> list[Record]:
    """The records, oldest first, once for each (policy, problem) name they go by; tables are called by their files."""
    held = list(records)
    short = shortened({problem: _data_of(record) for record in held for _, problem in record.names})
    listed = [  # names that are refused today may be in older records
        replace(record, policy=policy, problem=problem)
        for record in held
        for policy, problem in dict.fromkeys(
            (printable_name(policy), printable_name(short.get(problem, problem))) for policy, problem in record.names
        )
    ]
    return sorted(listed, key=lambda record: record.finished)


def _column(tables: list[pd.DataFrame], name: str) -> np.ndarray:
    """One column of all tables; many times as fast as putting the tables together."""
    return np.concatenate(
        [table[name].to_numpy() if name in table else np.full(len(table), np.nan) for table in tables]
    )


def _row(record: Record) -> dict[str, Any]:
    values = {name: getattr(record, name, None) for name in _CELL_COLUMNS}
    return {**values, "data": _data_of(record), _CONCURRENT: record.concurrent}


def _data_of(record: Record) -> str:
    """A hash of a problem's data, without name and horizon: a file's content may change under one name."""
    problem = {name: item for name, item in record.identity["problem"].items() if name != "horizon"}
    return hashlib.sha256(canonical(problem).encode()).hexdigest()[:12]
