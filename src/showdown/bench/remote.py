"""Stores behind a URL (S3 and others, by fsspec): what is kept there, copying done cells, and playing into one.

    URL/tables/SHA256.parquet   a table, under its own checksum: it is written once and never changes
    URL/cells/HASH.json         the record of a done cell, which names its table by that checksum

An object store replaces one object at a time, and has no locks and no renames. So nothing here needs more than that: a
table is written before the record that names it, two writers of one table write the same bytes, and if two machines
played one cell, whichever record comes last names a table that is there. Only done cells are kept here. Two writers who
add names to one record at the same moment can lose a name, never a number.

A run with a URL plays into a folder of this machine, which has locks and renames, and uploads each cell as soon as it
is finished. What is already at the URL is downloaded first, so that it is not played again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from showdown.basics.errors import ShowdownError, UsageError
from showdown.basics.files import cache_folder
from showdown.bench import record_file
from showdown.bench.record import NotARecord, Record
from showdown.bench.store import CellFiles, Store


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
        """Both files of a done cell, checked; None if they are missing or damaged."""
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
        """Keep a done cell; return whether that changed anything. One that is here already only gets further names."""
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


DOWNLOADS = 8  # at the same time


@dataclass
class Copied:
    new: int = 0  # cells that were copied, or got further names
    present: int = 0  # that were there
    damaged: list[str] = field(default_factory=list)  # that cannot be copied


def opened(place: str) -> Store | Remote:
    return Remote(place) if is_url(place) else local_store(place)


def local_store(place: str) -> Store:
    return Store(Path(place.removeprefix("file://")))


def copy_cells(source: Store | Remote, target: Store | Remote) -> Copied:
    """Copy every done cell of `source` that `target` does not have; damaged ones are left out and counted."""
    copied, have = Copied(), _names(target)
    wanted = []
    for cell, names in _names(source).items():
        if names <= have.get(cell, frozenset()):
            copied.present += 1
        else:
            wanted.append(cell)
    with ThreadPoolExecutor(DOWNLOADS) as threads:  # reading waits for the network, and so does writing
        for cell, result in zip(wanted, threads.map(_copier(source, target), wanted), strict=True):
            if result is None:
                copied.damaged.append(cell)
            elif result:
                copied.new += 1
            else:
                copied.present += 1
    return copied


def _copier(source: Store | Remote, target: Store | Remote) -> Callable[[str], bool | None]:
    def copy(cell: str) -> bool | None:
        files = source.files_of(cell)
        return None if files is None else target.adopt(files)

    return copy


def _names(place: Store | Remote) -> dict[str, frozenset[tuple[str, str]]]:
    """The names of each done cell, by hash; in a local store only cells whose tables match their checksums."""
    if isinstance(place, Remote):
        return {cell: frozenset(record.names) for cell, record in place.records().items()}
    records: dict[str, Record] = {record.cell: record for record in place.cells() if record.is_done}
    return {cell: frozenset(record.names) for cell, record in records.items() if place.is_done(cell)}


@dataclass
class Mirror:
    """A remote store and its copy on this machine, which is what a run plays into."""

    remote: Remote
    store: Store
    late: dict[str, str] = field(default_factory=dict)  # cells that could not be uploaded, with the reason

    @classmethod
    def of(cls, url: str) -> Mirror:
        name = hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:16]
        mirror = cls(Remote(url), Store(cache_folder() / "stores" / name))
        copy_cells(mirror.remote, mirror.store)
        return mirror

    def upload(self, cell_hash: str) -> str | None:
        """Upload a cell. Returns the reason if that fails; the run goes on, and `finish` tries again."""
        files = self.store.files_of(cell_hash)
        try:
            if files is not None:
                self.remote.adopt(files)
            self.late.pop(cell_hash, None)
        except ShowdownError as error:
            self.late[cell_hash] = str(error)
        return self.late.get(cell_hash)

    def finish(self) -> None:
        for cell_hash in list(self.late):
            self.upload(cell_hash)
        if self.late:
            reason = next(iter(self.late.values()))
            kept = f"{len(self.late)} finished cells are kept in {self.store.directory}"
            raise ShowdownError(f"{kept} and were not uploaded: {reason}; the same command uploads them")
