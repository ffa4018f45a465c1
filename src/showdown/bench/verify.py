"""Check a whole store, and give records that were written without a checksum theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from showdown.basics.files import read_plain
from showdown.bench import record_file, table_file
from showdown.bench.reader import Reader
from showdown.bench.record import Record
from showdown.bench.store import Store

VERIFIED, UNVERIFIED, DAMAGED, FOREIGN, LEFTOVER = "verified", "unverified", "damaged", "foreign", "leftover"


@dataclass(frozen=True)
class Finding:
    file: str
    state: str  # verified or unverified: a readable cell; damaged: not; foreign: none of ours; leftover: no record
    reason: str = ""


def check_store(store: Store, *, seal: bool = False) -> Iterator[Finding]:
    """One finding for each cell or file, in the order of their names. Every table is parsed, whatever its checksum."""
    recorded = set()
    for path in store.paths():
        reader = Reader(store.directory)  # one each: it keeps the tables that it has read
        record = reader.read_record(path)
        recorded.add(path.stem)
        if record is None or (record.is_done and reader.trials(record) is None):
            state = DAMAGED if reader.damaged else FOREIGN
            yield Finding(path.name, state, reader.warnings[-1] if reader.warnings else "it was deleted meanwhile")
        elif record.verified:
            yield Finding(path.name, VERIFIED)
        elif seal:
            _seal(store, record)
            yield Finding(path.name, VERIFIED, "sealed")
        else:
            yield Finding(path.name, UNVERIFIED)
    for path in sorted(store.folder.glob("*.parquet")):
        if path.stem not in recorded:
            yield Finding(path.name, LEFTOVER, f"{path.name} has no record")


def _seal(store: Store, record: Record) -> None:
    own: dict[str, Any] = {}
    if record.is_done:
        table = read_plain(store.folder / f"{record.cell}.parquet", table_file.MOST_BYTES)
        own["table_sha256"] = record_file.sha256(table)
    store.rewrite(record.cell, lambda data: {**data, **own, "checksum": ""})  # which `rewrite` fills in
