"""A store of finished cells in an object store (S3 and others), reached through fsspec by a URL.

    URL/tables/SHA256.parquet   a table, under its own checksum: it is written once and never changes
    URL/cells/HASH.json         the record of a done cell, which names its table by that checksum

An object store replaces one object at a time, and has no locks and no renames. So nothing here needs more than that: a
table is written before the record that names it, two writers of one table write the same bytes, and if two machines
played one cell, whichever record comes last names a table that is there. Only done cells are kept here. Two writers who
add names to one record at the same moment can lose a name, never a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench import record_file
from showdown.bench.record import NotARecord, Record
from showdown.bench.store import CellFiles


def is_url(out: str) -> bool:
    return "://" in out and not out.startswith("file://")


class Remote:
    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec
        except ImportError:
            raise UsageError(f"{url} needs fsspec: pip install 'bandit-showdown[remote]'") from None
        try:
            self.files, root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:  # a protocol that is unknown, or whose package is missing
            raise UsageError(f"{url} cannot be used: {error}") from None
        self.root = str(root).rstrip("/")

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (ShowdownError, NotARecord):
            raise
        except Exception as error:  # each protocol has errors of its own
            why = str(error).strip().splitlines()
            raise ShowdownError(f"cannot reach {self.url}: {type(error).__name__} {why[0] if why else ''}") from None

    def _record_path(self, cell_hash: str) -> str:
        return f"{self.root}/cells/{cell_hash}.json"

    def _table_path(self, checksum: str) -> str:
        return f"{self.root}/tables/{checksum}.parquet"

    def records(self) -> dict[str, Record]:
        """Every done cell that can be read, by its hash."""
        with self._reaching():
            self.files.invalidate_cache()
            try:
                paths = [path for path in self.files.ls(f"{self.root}/cells", detail=False) if path.endswith(".json")]
            except FileNotFoundError:
                return {}
            contents: dict[str, Any] = self.files.cat(paths, on_error="omit") if paths else {}
        found = {path.rpartition("/")[2].removesuffix(".json"): content for path, content in contents.items()}
        records = {cell: _checked(content, cell) for cell, content in found.items()}
        return {cell: record for cell, record in records.items() if record is not None}

    def files_of(self, cell_hash: str) -> CellFiles | None:
        """Of a done cell, both checked; None if it is missing or damaged."""
        with self._reaching():
            try:
                content = self.files.cat_file(self._record_path(cell_hash))
                record = _checked(content, cell_hash)
                if record is None or record.table_sha256 is None:
                    return None
                table = self.files.cat_file(self._table_path(record.table_sha256))
            except FileNotFoundError:
                return None
        return CellFiles(cell_hash, content, table) if record_file.sha256(table) == record.table_sha256 else None

    def adopt(self, files: CellFiles) -> bool:
        """Keep a done cell; whether that changed anything. One that is here already only gets the other's names."""
        data = record_file.fields_of(files.record)
        record = record_file.checked(data, files.hash)
        if not record.is_done or files.table is None or hashlib.sha256(files.table).hexdigest() != record.table_sha256:
            raise NotARecord("is not that of a done cell with its table")
        there = self.files_of(files.hash)
        if there is not None:
            data = record_file.fields_of(there.record)
            before = tuple(map(tuple, data["names"]))
            if set(record.names) <= set(before):
                return False
            data = record_file.sealed({**data, "names": list(dict.fromkeys([*before, *record.names]))})
        with self._reaching():
            if there is None:
                self._put(self._table_path(str(record.table_sha256)), files.table)
            self._put(self._record_path(files.hash), record_file.to_bytes(data))
        return True

    def _put(self, path: str, content: bytes) -> None:
        self.files.makedirs(path.rpartition("/")[0], exist_ok=True)  # of protocols that have folders
        self.files.pipe_file(path, content)


def _checked(content: bytes, cell_hash: str) -> Record | None:
    try:
        record = record_file.checked(record_file.fields_of(content), cell_hash)
    except NotARecord:
        return None
    return record if record.is_done and record.verified else None
