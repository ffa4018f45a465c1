"""From a record to the bytes of its file and back, with everything that shows whether it was damaged.

A record carries the SHA-256 of its cell's table (`table_sha256`) and of its own other fields (`checksum`), and the name
of its file is the hash of the identity in it. A record of before has no checksum: what can be checked is.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from showdown.basics.files import read_plain
from showdown.bench.cell import identity_hash
from showdown.bench.record import NotARecord, Record, read_record
from showdown.config import canonical

MOST_BYTES = 16 << 20  # of a record; a usual one has 5 kB


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record with the checksum of all the others as the last."""
    rest = {name: value for name, value in data.items() if name != "checksum"}
    return {**rest, "checksum": sha256(canonical(rest).encode())}


def to_bytes(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def read_fields(path: Path) -> dict[str, Any]:
    """All fields of a record's file, those of later versions too. Raises NotARecord, or FileNotFoundError."""
    try:
        content = read_plain(path, MOST_BYTES)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotARecord(f"cannot be read ({error.strerror or error})") from None
    return fields_of(content)


def fields_of(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content, parse_constant=_no_number)
        if b"\\u" in content:
            json.dumps(data, ensure_ascii=False).encode()  # half a surrogate pair is no letter, and cannot be printed
    except (ValueError, RecursionError) as error:  # UnicodeError is a ValueError
        raise NotARecord(f"cannot be read ({type(error).__name__})") from None
    return data


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def read_file(path: Path) -> Record:
    """The record in a file, checked as far as it can be. Raises NotARecord, or FileNotFoundError."""
    return checked(read_fields(path), path.stem)


def checked(data: dict[str, Any], cell_hash: str) -> Record:
    """The record of the cell that a file's name stands for. Raises NotARecord where it is another's or damaged."""
    record = read_record(data)
    if "checksum" in data:
        if data["checksum"] != sealed(data)["checksum"]:
            raise NotARecord("does not match its checksum")
        if record.is_done and record.table_sha256 is None:
            raise NotARecord("does not say which table is its own")
        record = replace(record, verified=True)
    elif "table_sha256" in data:
        raise NotARecord("has lost its checksum")
    identity = record.identity
    played = (identity.get("trials"), identity.get("seed"), identity["problem"].get("horizon", record.horizon))
    if record.cell != cell_hash or identity_hash(identity) != cell_hash:
        raise NotARecord("is not the record of the cell that its name stands for")
    if played != (record.trials, record.seed, record.horizon):
        raise NotARecord("contradicts itself (trials, seed or horizon)")
    return record
