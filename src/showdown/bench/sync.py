"""Copying done cells from one store to another, either of which may be remote, and playing into a remote store.

A run with a URL plays into a folder of this machine, which has locks and renames, and uploads each cell as soon as it
is finished. What is already at the URL is downloaded first, so that it is not played again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from showdown.basics.errors import ShowdownError
from showdown.basics.folders import cache_folder
from showdown.bench.record import Record
from showdown.bench.remote import Remote, is_url
from showdown.bench.store import Store

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
    """Every done cell of `source` that `target` does not have; what is damaged is left out and counted."""
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
    """Of each done cell; of a local store only those whose tables match their checksums."""
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
        """The reason if it cannot be done now; the run goes on, and `finish` tries again."""
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
