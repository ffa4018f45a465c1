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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from showdown.basics.errors import ShowdownError, UsageError
from showdown.basics.files import cache_folder
from showdown.bench import record_file
from showdown.bench.reach import Unreachable, reach, reason
from showdown.bench.record import NotARecord, Record
from showdown.bench.store import CellFiles, Store
from showdown.bench.table_file import NotATable

AT_ONCE = 64  # records that are read by one call
MOST_TABLE_BYTES = 4 << 20  # of a table, for the time that reading it may take
T = TypeVar("T")


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
        self.damaged: dict[str, str] = {}  # cells whose records cannot be read, with the reason

    def _reach(self, call: Callable[[], T], size: int = 0) -> T:
        return reach(self.url, call, size)

    def _record_path(self, cell_hash: str) -> str:
        return f"{self.root}/cells/{cell_hash}.json"

    def _table_path(self, checksum: str) -> str:
        return f"{self.root}/tables/{checksum}.parquet"

    def exists(self) -> bool:
        """Whether there is a store at the URL, an empty one included."""
        return self._listed() is not None

    def _listed(self) -> list[str] | None:
        """The paths of all records; None where there is no such folder or bucket."""

        def listed() -> list[str]:
            self.files.invalidate_cache()
            return self.files.ls(f"{self.root}/cells", detail=False)

        try:
            return [path for path in self._reach(listed) if path.endswith(".json")]
        except FileNotFoundError:
            return None

    def records(self) -> dict[str, Record]:
        """Every done cell that can be read, by its hash; the others are in `damaged` then, with the reason."""
        self.damaged = {}
        found, paths = {}, self._listed() or []
        for first in range(0, len(paths), AT_ONCE):
            for path, content in self._contents(paths[first : first + AT_ONCE]).items():
                cell = path.rpartition("/")[2].removesuffix(".json")
                try:
                    found[cell] = _checked(content, cell)
                except (NotARecord, Unreachable) as error:
                    self.damaged[cell] = str(error)
        return found

    def _contents(self, paths: list[str]) -> dict[str, bytes | Unreachable]:
        """The content of each record, or why it cannot be had. One that was deleted meanwhile is left out."""
        several: dict[str, Any] = self._reach(lambda: self.files.cat(paths, on_error="return"), len(paths) * 10_000)
        found: dict[str, bytes | Unreachable] = {}
        for path, content in several.items():
            try:
                found[path] = content if isinstance(content, bytes) else self._reach(_cat(self.files, path))
            except FileNotFoundError:
                continue
            except Unreachable as error:
                found[path] = error
        return found

    def files_of(self, cell_hash: str) -> CellFiles | None:
        """Both files of a done cell, checked; None if they are missing or damaged."""
        try:
            content = self._reach(_cat(self.files, self._record_path(cell_hash)))
            record = _checked(content, cell_hash)
            table = self._reach(_cat(self.files, self._table_path(str(record.table_sha256))), MOST_TABLE_BYTES)
        except (FileNotFoundError, NotARecord):
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
        if there is None:
            self._put(self._table_path(str(record.table_sha256)), files.table)
        self._put(self._record_path(files.hash), record_file.to_bytes(data))
        return True

    def _put(self, path: str, content: bytes) -> None:
        def put() -> None:
            self.files.makedirs(path.rpartition("/")[0], exist_ok=True)  # of protocols that have folders
            self.files.pipe_file(path, content)

        try:
            self._reach(put, len(content))
        except FileNotFoundError as error:  # a bucket that is missing and cannot be made
            raise Unreachable(f"cannot write to {self.url}: {reason(error)}") from None


def _cat(files: Any, path: str) -> Callable[[], bytes]:
    return lambda: files.cat_file(path)


def _checked(content: bytes | Unreachable, cell_hash: str) -> Record:
    """The record of a done cell. Raises NotARecord, or what kept the content from us."""
    if isinstance(content, Unreachable):
        raise content
    record = record_file.checked(record_file.fields_of(content), cell_hash)
    if not record.is_done or not record.verified or record.table_sha256 is None:
        raise NotARecord("is not that of a done cell with its checksums")
    return record


DOWNLOADS = 8  # at the same time
MOST_FAILURES = 8  # one after another, before the rest is given up


@dataclass
class Copied:
    new: int = 0  # cells that were copied, or got further names
    present: int = 0  # that were there
    damaged: dict[str, str] = field(default_factory=dict)  # that were not copied, with the reason


def opened(place: str) -> Store | Remote:
    return Remote(place) if is_url(place) else local_store(place)


def local_store(place: str) -> Store:
    return Store(Path(place.removeprefix("file://")))


def copy_cells(source: Store | Remote, target: Store | Remote) -> Copied:
    """Copy every done cell of `source` that `target` does not have; what cannot be copied is left out and named."""
    copied, (have, _), (found, damaged) = Copied(), _names(target), _names(source)
    copied.damaged |= damaged
    wanted = []
    for cell, names in found.items():
        if names <= have.get(cell, frozenset()):
            copied.present += 1
        else:
            wanted.append(cell)
    with ThreadPoolExecutor(DOWNLOADS) as threads:  # reading waits for the network, and so does writing
        for cell, result in zip(wanted, threads.map(_Copier(source, target), wanted), strict=True):
            if isinstance(result, str):
                copied.damaged[cell] = result
            elif result:
                copied.new += 1
            else:
                copied.present += 1
    return copied


@dataclass
class _Copier:
    """Copies one cell; says whether that changed anything, or why it was not copied."""

    source: Store | Remote
    target: Store | Remote
    failures: int = 0  # one after another: a place that is gone is not asked for each of a thousand cells

    def __call__(self, cell: str) -> bool | str:
        if self.failures >= MOST_FAILURES:
            return "was not tried, since those before it failed"
        try:
            files = self.source.files_of(cell)
            result = "its table is missing or damaged" if files is None else self.target.adopt(files)
        except Unreachable as error:
            self.failures += 1
            return str(error)
        except (NotARecord, NotATable) as error:
            return str(error)
        self.failures = 0
        return result


def _names(place: Store | Remote) -> tuple[dict[str, frozenset[tuple[str, str]]], dict[str, str]]:
    """The names of each done cell, by hash; and the cells that are damaged, with the reason.

    In a local store only cells whose tables match their checksums are done.
    """
    if isinstance(place, Remote):
        return {cell: frozenset(record.names) for cell, record in place.records().items()}, place.damaged
    records: dict[str, Record] = {record.cell: record for record in place.cells() if record.is_done}
    names = {cell: frozenset(record.names) for cell, record in records.items() if place.is_done(cell)}
    return names, dict.fromkeys(sorted(place.damaged), "its record or its table is damaged")


@dataclass
class Mirror:
    """A remote store and its copy on this machine, which is what a run plays into."""

    remote: Remote
    store: Store
    late: dict[str, str] = field(default_factory=dict)  # cells that could not be uploaded, with the reason
    left_out: dict[str, str] = field(default_factory=dict)  # cells that could not be downloaded, with the reason

    @classmethod
    def of(cls, url: str) -> Mirror:
        name = hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:16]
        mirror = cls(Remote(url), Store(cache_folder() / "stores" / name))
        mirror.left_out = copy_cells(mirror.remote, mirror.store).damaged
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
