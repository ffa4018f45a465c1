"""An append-only file of what an agent decided and learned, to be replayed after a crash.

Every record is one line of JSON with a number, and is handed to the system before the call that made it returns: a
process that is killed loses nothing it had answered. (A machine that loses power may lose the last seconds.) An agent
remembers the number of its last record when it is saved, so that a journal is replayed from there on.
"""

from __future__ import annotations

import json
import os
import weakref
from pathlib import Path
from typing import Any, NamedTuple

from showdown.basics.errors import UsageError
from showdown.basics.files import take_lock
from showdown.config import to_json
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec

FORMAT = 1


class JournalError(UsageError):
    """A record could not be written, for example to a full disk."""


class Journal:
    """Open for appending. What a killed writer has left unfinished at the end is cut off."""

    def __init__(self, path: Path, policy: Policy, spec: ProblemSpec, last: int) -> None:
        """A new file begins after record `last`."""
        self.path, self.last = path, last
        sizes = {
            "context_dim": spec.context_dim,
            "num_actions": spec.num_actions,
        }  # an agent's actions have no features
        about = {"format": FORMAT, "policy": to_json(policy), "spec": sizes}
        self.records: list[Record] = []
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self.close = weakref.finalize(self, os.close, self._file)  # at the latest when nobody needs it
            if not take_lock(self._file, wait=False):  # the records of two writers could not be told apart
                raise UsageError(f"another agent writes the journal {path}: close it first")
            if path.stat().st_size:
                found, whole = _read(path, about)
                self.records = [record for record in found if record.number > last]
                _check_numbers(path, self.records, last)
                os.ftruncate(self._file, whole)
            self._size = os.fstat(self._file).st_size
        except OSError as error:
            raise UsageError(f"cannot write the journal {path}: {error.strerror}") from None
        except UsageError:
            self.close()
            raise
        if not self._size:
            self._write(about)

    def write(self, record: dict[str, Any]) -> None:
        self._write({"n": self.last + 1, **record})
        self.last += 1

    def _write(self, line: dict[str, Any]) -> None:
        """Whole, or not at all where the disk is full."""
        content = memoryview(json.dumps(line).encode() + b"\n")
        written = 0
        try:
            while written < len(content):
                written += os.write(self._file, content[written:])
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise JournalError(f"cannot write the journal {self.path}: {error.strerror}") from None
        self._size += written


class Record(NamedTuple):
    number: int
    line: int  # of the file, counted from 1
    content: dict[str, Any]


def damaged(path: Path, line: int, why: str) -> UsageError:
    """Nothing is skipped by itself: what to lose is for the user to decide."""
    return UsageError(
        f"line {line} of the journal {path} {why}: keep a copy, then cut it before that line (head -n {line - 1}), "
        "which loses what came later, or move it away, which loses what came after the agent was saved"
    )


def _read(path: Path, about: dict[str, Any]) -> tuple[list[Record], int]:
    """The records of a journal, and how many bytes of it are whole lines."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    lines = content[:whole].split(b"\n")[:-1]
    if not lines:
        return [], 0
    header = _object(lines[0])
    if header is None or "format" not in header:
        raise UsageError(
            f"{path} is not the journal of an agent, by its first line: move it away, or name another file"
        )
    if header != json.loads(json.dumps(about)):
        raise UsageError(f"{path} is the journal of another agent: its policy, its sizes or its format differ")
    records = []
    for number, line in enumerate(lines[1:], 2):
        record = _object(line)
        if record is None or type(record.get("n")) is not int:
            raise damaged(path, number, "is damaged")
        records.append(Record(record.pop("n"), number, record))
    return records, whole


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _check_numbers(path: Path, records: list[Record], last: int) -> None:
    """Whether these are all that came after record `last`. What came before it may have gaps: nobody needs it."""
    for wanted, record in enumerate(records, last + 1):
        if record.number != wanted:
            raise damaged(path, record.line, f"is record {record.number}, and record {wanted} is lost")
