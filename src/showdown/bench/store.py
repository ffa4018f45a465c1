"""The store: a folder of cells, each a JSON record and, when it is done, a Parquet table of its trials.

    DIR/cells/HASH.json      status, configuration, versions, hardware, seconds, diagnostics of the policy (the largest
                             of its trials), checksums: the record that makes a cell exist
    DIR/cells/HASH.parquet   one row per trial: the metrics, action counts, the curve at the checkpoints

Both are written under a temporary name and renamed, the table first, so a reader or a second writer never sees half a
cell. Only `done` counts as stored: its numbers stay, unless it is damaged and played again. Every other status is kept,
with its reason, and tried again. Processes that write to one store claim the cells they play, and add names to a record
one at a time, by locks that end with their process. Readers check what they read; see `reader.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from showdown.basics.errors import ShowdownError, UsageError
from showdown.basics.files import TEMPORARY, sweep, write_atomically, write_together
from showdown.basics.locks import LOCK, held_by, locked, remove_free_locks
from showdown.bench import record_file, table_file
from showdown.bench.cell import Cell
from showdown.bench.reader import Reader
from showdown.bench.record import About, NotARecord, Record
from showdown.bench.table_file import NotATable
from showdown.play.simulate import Outcome

SPARE_BYTES = 16 << 20  # that a disk must have free before a cell is played, besides twice the cell's table
_BYTES_PER_TRIAL = 4096  # of a table: two curves, the metrics, the counts of a usual number of actions
Names = list[tuple[str, str]]  # (policy, problem) as a user would write them


class CellFiles(NamedTuple):
    """A cell as it travels between stores: the bytes of its two files."""

    hash: str
    record: bytes
    table: bytes | None  # only of a done cell


class Store(Reader):
    def prepare(self) -> None:
        """Check that this folder can be written to, before hours are spent; clear what killed writers left."""
        try:
            self._make_folder()
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

    def _make_folder(self) -> None:
        """Make the folder of cells. Who may write to the store may write there too, whatever the umask."""
        if self.folder.is_dir():
            return
        shared = self.directory.is_dir()
        self.folder.mkdir(parents=True, exist_ok=True)
        if shared:
            with suppress(OSError):  # made by another user at the same moment
                self.folder.chmod(self.directory.stat().st_mode & 0o7777)

    def require_space(self, cell: Cell) -> None:
        """Raise ShowdownError if the disk is too full for this cell, before it is played."""
        needed = SPARE_BYTES + 2 * cell.trials * _BYTES_PER_TRIAL
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            short = f"{free >> 20} MiB are free in {self.directory}, and a cell needs up to {needed >> 20} MiB"
            raise ShowdownError(f"{short}: make room, and the same command continues from there")

    def claim(self, cell_hash: str) -> AbstractContextManager[bool]:
        """Hold the right to play a cell; False while another process plays it. A dead process holds nothing."""
        return locked(self._claim_path(cell_hash), wait=0)

    def who_plays(self, cell_hash: str) -> str:
        """A clause that says who has claimed a cell, since when, and how to go on."""
        return held_by(self._claim_path(cell_hash))

    def _claim_path(self, cell_hash: str) -> Path:
        return self.folder / f"{LOCK}{cell_hash}"

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
        """Write a cell's files, under a lock, since names are added to those of the stored record."""
        path = self._path(cell.hash, ".json")
        try:
            self._make_folder()
            with self._writing(cell.hash):
                if table is None and self.is_done(cell.hash):
                    return
                record = _record(cell, self._all_names(path, names), fields)
                files = {} if table is None else {self._path(cell.hash, ".parquet"): table}
                write_together({**files, path: record})
        except OSError as error:
            raise ShowdownError(f"cannot write to {self.directory}: {error.strerror or error}") from None

    def files_of(self, cell_hash: str) -> CellFiles | None:
        """Both files of a done cell, checked against their checksums; None if there is no such cell."""
        record = self.read_record(self._path(cell_hash, ".json"))
        table = self._table_bytes(record) if record is not None and record.is_done else None
        if record is None or table is None:
            return None
        return CellFiles(
            cell_hash, record_file.to_bytes(record_file.read_fields(self._path(cell_hash, ".json"))), table
        )

    def adopt(self, files: CellFiles) -> bool:
        """Store a cell that was played elsewhere; return whether that changed anything. Raises NotARecord or NotATable.

        A done cell that is here already stays as it is and gets the names of the other; nothing replaces it.
        """
        path = self._path(files.hash, ".json")
        data = record_file.fields_of(files.record)
        record = record_file.checked(data, files.hash)
        if record.is_done and (files.table is None or record_file.sha256(files.table) != record.table_sha256):
            raise NotATable("does not match its checksum")
        try:
            self._make_folder()
            with self._writing(files.hash):
                stored = self.read_record(path) if self.is_done(files.hash) else None
                if stored is not None and (not record.is_done or set(record.names) <= set(stored.names)):
                    return False
                self._tables.pop(files.hash, None)
                named = record_file.read_fields(path) if stored is not None else data
                named = record_file.sealed({**named, "names": self._all_names(path, list(record.names))})
                table = {} if files.table is None or stored is not None else {path.with_suffix(".parquet"): files.table}
                write_together({**table, path: record_file.to_bytes(named)})
        except OSError as error:
            raise ShowdownError(f"cannot write to {self.directory}: {error.strerror or error}") from None
        return True

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


def _record(cell: Cell, names: tuple[tuple[str, str], ...], fields: dict[str, Any]) -> bytes:
    asked: dict[str, Any] = {
        "horizon": cell.problem.horizon,
        "seed": cell.seed,
        "trials": cell.trials,
        "identity": cell.identity,
    }
    record = Record(cell=cell.hash, names=names, **asked, **fields)
    return record_file.to_bytes(record_file.sealed(record.to_json()))


class InMemory(Store):
    """Keeps the files of the cells that it is given, to be sent to another store; its folder is only a name."""

    def __init__(self, directory: str | Path) -> None:
        super().__init__(directory)
        self.files: dict[str, CellFiles] = {}

    def _write(self, cell: Cell, names: Names, fields: dict[str, Any], table: bytes | None) -> None:
        self.files[cell.hash] = CellFiles(cell.hash, _record(cell, tuple(names), fields), table)
