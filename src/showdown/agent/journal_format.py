"""The file of a journal: a header, a mark that says how far it was written, and a line for each record.

    <check> {"format": 2, "policy": …, "spec": …, "first": 121, "before": "<check of record 120>"}
    last 00000000000000000240 open <check>
    <check> {"n": 121, "decision": …}
    …

The check of a record is a hash of the check before it and of its own text, so that a record that was changed, lost,
repeated or moved is noticed. The mark has a fixed width and is written over after each record: a file that was cut
short has fewer records than its mark says. Checks show accidents, not forgery.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from showdown.basics.errors import UsageError

FORMAT = 2
START = b"0" * 16  # the check before the first record
WAYS_ON = (
    "put a copy of the file back, or go on without them by accept_loss=True (showdown serve --accept-loss), which "
    "keeps the damaged file beside the journal"
)


class JournalError(UsageError):
    """A record could not be written: the disk is full, or the file is not where it was."""


class JournalLossError(UsageError):
    """Records of a journal are damaged or gone, and nobody has said that they may be lost."""


class Header(NamedTuple):
    first: int  # number of the first record
    before: bytes  # check of the record before it
    check: bytes  # of the header itself
    size: int  # bytes
    actions: list[Any]  # the names by slot before the first record, None for a slot without an action
    action_dim: int  # features of each action


class Mark(NamedTuple):
    last: int  # number of the last record that was acknowledged
    is_open: bool  # False in a segment that another one continues


class JournalRecord(NamedTuple):
    number: int
    line: int  # of the file, counted from 1
    check: bytes
    end: int  # where its line ends, in bytes
    content: dict[str, Any]


class Broken(NamedTuple):
    """A line that holds no record."""

    number: int  # of the record that belongs here
    line: int
    unfinished: bool  # whether it is the end of the file, without a line end


def checked(before: bytes, text: bytes) -> bytes:
    """The check of a text that follows what has the check `before`, 16 characters."""
    return blake2b(before + text, digest_size=8).hexdigest().encode()


def header_line(about: dict[str, Any], actions: list[Any], first: int, before: bytes) -> bytes:
    """The first line of a file; `actions` are the names by slot, of which nothing is compared."""
    content = {"format": FORMAT, **about, "first": first, "before": before.decode(), "actions": actions}
    text = json.dumps(content).encode()
    return checked(b"", text) + b" " + text + b"\n"


def mark_line(header_check: bytes, mark: Mark) -> bytes:
    text = b"last %020d %s " % (mark.last, b"open" if mark.is_open else b"shut")
    return text + checked(header_check, text) + b"\n"


MARK_BYTES = len(mark_line(START, Mark(0, True)))


def record_line(before: bytes, number: int, record: dict[str, Any]) -> tuple[bytes, bytes]:
    """The line of a record, and its check."""
    text = json.dumps({"n": number, **record}).encode()
    check = checked(before, text)
    return check + b" " + text + b"\n", check


def read_header(stream: BinaryIO, path: Path, about: dict[str, Any] | None = None) -> Header:
    """The header of a journal, of this policy and these sizes where they are given; raises UsageError for others."""
    line = stream.readline()
    if not line:
        raise JournalLossError(f"the journal {path} is empty, so its records are gone: put a copy back, or delete it")
    text = line[17:-1]
    content = as_object(text)
    if line[16:17] != b" " or content is None or "format" not in content:
        raise UsageError(
            f"{path} is not the journal of an agent, by its first line: move it away, or name another file"
        )
    if checked(b"", text) != line[:16]:
        raise JournalLossError(f"the first line of the journal {path} is damaged: put a copy back, or move it away")
    own = {"format": FORMAT, **json.loads(json.dumps(about or {}))}
    if {name: content.get(name) for name in own} != own:
        raise UsageError(f"{path} is the journal of another agent: its policy, its sizes or its format differ")
    spec = content.get("spec", {})
    names = content.get("actions", list(range(spec.get("num_actions", 0))))  # older versions did not write them
    dim = spec.get("action_dim", 0)
    return Header(content["first"], content["before"].encode(), line[:16], len(line), names, dim)


def read_mark(stream: BinaryIO, header: Header) -> Mark | None:
    """The mark, or None where it is damaged."""
    line = stream.read(MARK_BYTES)
    text = line[:-17]
    if len(line) != MARK_BYTES or line[-1:] != b"\n" or checked(header.check, text) != line[-17:-1]:
        return None
    return Mark(int(text.split()[1]), text.split()[2] == b"open")


def read_records(stream: BinaryIO, header: Header) -> Iterator[JournalRecord | Broken]:
    """What each line after the mark holds, one at a time.

    A line is compared with the check that stands in the line before, so that one damaged line does not make all later
    ones look damaged.
    """
    before, end = header.before, header.size + MARK_BYTES
    for place, line in enumerate(stream):
        number, end = header.first + place, end + len(line)
        text = line[17:-1]
        if line[-1:] != b"\n":
            yield Broken(number, place + 3, unfinished=True)
            return
        content = as_object(text) if checked(before, text) == line[:16] and line[16:17] == b" " else None
        before = line[:16]
        if content is None or content.pop("n", None) != number:
            yield Broken(number, place + 3, unfinished=False)
        else:
            yield JournalRecord(number, place + 3, before, end, content)


def as_object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def old_records(stream: BinaryIO, path: Path, about: dict[str, Any]) -> tuple[int, Iterator[dict[str, Any]]]:
    """The number of the first record of a journal of format 1, and its records: they had numbers and no checks."""
    if as_object(stream.readline()) != {"format": 1, **json.loads(json.dumps(about))}:
        raise UsageError(f"{path} is the journal of another agent: its policy, its sizes or its format differ")
    start = stream.tell()
    first = (as_object(stream.readline()) or {}).get("n", 1)
    stream.seek(start)
    return first, _old_records(stream, path, first)


def _old_records(stream: BinaryIO, path: Path, first: int) -> Iterator[dict[str, Any]]:
    for place, line in enumerate(stream):
        if line[-1:] != b"\n":  # what a killed writer has left
            return
        content = as_object(line)
        if content is None or content.pop("n", None) != first + place:
            raise UsageError(
                f"line {place + 2} of the journal {path} is damaged: keep a copy, then cut it before that line "
                f"(head -n {place + 1}), which loses what came later"
            )
        yield content
