"""The store: a folder of immutable cells, each a JSON record and, when it is done, a Parquet table of its trials.

    DIR/cells/HASH.json      status, configuration, versions, hardware, seconds, diagnostics of the policy (the largest
                             of its trials), checksums: the record that makes a cell exist
    DIR/cells/HASH.parquet   one row per trial: the metrics, action counts, the curve at the checkpoints

Both are written under a temporary name and renamed, the table first, so a reader or a second writer never sees half a
cell. Only `done` counts as stored; every other status is kept, with its reason, and tried again. Processes that write
to one store claim the cells they play, and add names to a record one at a time, by locks that end with their process.
Readers check what they read; see `reader.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from showdown.bench import record_file, table_file
from showdown.bench.cell import Cell
from showdown.bench.locks import LOCK, locked, remove_free_locks
from showdown.bench.reader import Reader
from showdown.bench.record import About, NotARecord, Record
from showdown.errors import ShowdownError, UsageError
from showdown.files import TEMPORARY, sweep, write_atomically, write_together
from showdown.simulate import Outcome

SPARE_BYTES = 16 << 20  # that a disk must have free before a cell is played, besides twice the cell's table
_BYTES_PER_TRIAL = 4096  # of a table: two curves, the metrics, the counts of a usual number of actions
Names = list[tuple[str, str]]  # (policy, problem) as a user would write them


class Store(Reader):
    def prepare(self) -> None:
        """Find out whether anything can be kept here, before hours are spent; clear what killed writers left."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write to {self.directory}: {error.strerror}") from None
        probe = self.folder / f"{TEMPORARY}probe-{os.getpid()}"  # a name that readers ignore
        try:
            write_atomically(probe, lambda temporary: None)
            probe.unlink(missing_ok=True)
        except OSError as error:
            raise ShowdownError(f"cannot write to {self.directory}: {error.strerror or error}") from None
        sweep(self.folder)
        remove_free_locks(self.folder)

    def require_space(self, cell: Cell) -> None:
        """Notice a full disk before a cell is played rather than after."""
        needed = SPARE_BYTES + 2 * cell.trials * _BYTES_PER_TRIAL
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            short = f"{free >> 20} MiB are free in {self.directory}, and a cell needs up to {needed >> 20} MiB"
            raise ShowdownError(f"{short}: make room, and the same command continues from there")

    def claim(self, cell_hash: str, wait: bool = False) -> AbstractContextManager[bool]:
        """Hold the right to play a cell; False while another process plays it. A dead process holds nothing."""
        return locked(self.folder / f"{LOCK}{cell_hash}", wait)

    def write_done(self, cell: Cell, names: Names, outcome: Outcome, about: About) -> None:
        table = table_file.to_bytes(outcome)
        self._tables.pop(cell.hash, None)
        measured: dict[str, Any] = {
            "status": "done",
            "checkpoints": tuple(outcome.steps.tolist()),
            "context_dim": outcome.spec.context_dim,
            "num_actions": outcome.spec.num_actions,
            "labels": cell.problem.has_labels,
            "rows": outcome.rows,
            "compile_seconds": outcome.compile_seconds,
            "run_seconds": outcome.run_seconds,
            "batch_trials": outcome.batch_trials,
            "diagnostics": outcome.largest_diagnostics(),
            "timelines": outcome.mean_timelines(),
            "table_sha256": record_file.sha256(table),
        }
        self._write(cell, names, {**measured, **about}, table)

    def write_failed(self, cell: Cell, names: Names, status: str, reason: str, about: About) -> None:
        """Keep what went wrong; a finished cell that another process stored meanwhile is left alone."""
        self._write(cell, names, {"status": status, "reason": reason, **about}, None)

    def _write(self, cell: Cell, names: Names, fields: dict[str, Any], table: bytes | None) -> None:
        """Under a lock, since names are added to those that the stored record has."""
        path = self._path(cell.hash, ".json")
        asked: dict[str, Any] = {
            "horizon": cell.problem.horizon,
            "seed": cell.seed,
            "trials": cell.trials,
            "identity": cell.identity,
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._writing(cell.hash):
                if table is None and self.is_done(cell.hash):
                    return
                record = Record(cell=cell.hash, names=self._all_names(path, names), **asked, **fields)
                files = {} if table is None else {self._path(cell.hash, ".parquet"): table}
                write_together({**files, path: record_file.to_bytes(record_file.sealed(record.to_json()))})
        except OSError as error:
            raise ShowdownError(f"cannot write to {self.directory}: {error.strerror or error}") from None

    def _writing(self, cell_hash: str) -> AbstractContextManager[bool]:
        return locked(self.folder / f"{LOCK}{cell_hash}.json")

    def add_names(self, cell: Cell, names: Names) -> None:
        """Let a stored cell also be found under `names`: presets that mean the same share one cell."""
        path = self._path(cell.hash, ".json")
        record = self.read_record(path)
        if record is None or set(names) <= set(record.names):
            return
        self.rewrite(cell.hash, lambda data: {**data, "names": self._all_names(path, names)})

    def rewrite(self, cell_hash: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change fields of a stored record and keep all others, those of later versions too."""
        path = self._path(cell_hash, ".json")
        try:
            with self._writing(cell_hash):
                changed = change(record_file.read_fields(path))
                changed = record_file.sealed(changed) if "checksum" in changed else changed
                write_together({path: record_file.to_bytes(changed)})
        except NotARecord:
            return  # damaged since it was read before: it will be named, and played again
        except OSError as error:
            raise ShowdownError(f"cannot write to {self.directory}: {error.strerror or error}") from None

    def _all_names(self, path: Path, names: Names) -> tuple[tuple[str, str], ...]:
        """`names` after those the cell already goes by: another process may have played it under its own."""
        record = self.read_record(path)
        return tuple(dict.fromkeys([*(record.names if record is not None else ()), *names]))
