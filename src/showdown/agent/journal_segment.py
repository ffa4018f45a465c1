"""One open, locked file of a journal: appended to, checked against what others do to it, and copied from."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from showdown.agent import journal_format as form
from showdown.agent.journal_format import Header, JournalError, Mark
from showdown.basics.errors import UsageError
from showdown.basics.files import take_lock

COPY_BYTES = 1 << 20  # copied at a time


class Position(NamedTuple):
    """A place in a journal: after which record, and where in the file."""

    last: int
    check: bytes
    size: int


class Segment:
    """The file behind a handle that holds its lock. `path` is where it is found, by whatever name the caller uses."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self.handle = path, handle
        self.close = weakref.finalize(self, os.close, handle)  # at the latest when nobody needs it
        self.mark: Mark | None = None
        self._untidy = False

    @classmethod
    def create(
        cls, path: Path, temporary: Path, about: dict[str, Any], actions: list[Any], first: int, before: bytes
    ) -> Segment:
        """A file without records under a temporary name; its caller renames it."""
        with suppress(FileNotFoundError):
            temporary.unlink()  # of a process that was killed
        made = cls(path, os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644))
        take_lock(made.handle, wait=False)
        line = form.header_line(about, actions, first, before)
        made.header = Header(first, before, line[:16], len(line), actions, about["spec"].get("action_dim", 0))
        made.position = Position(first - 1, before, len(line) + form.MARK_BYTES)
        made.put(line, 0)
        made.write_mark()
        made.mark = Mark(first - 1, True)
        return made

    @classmethod
    def open(cls, path: Path, real: Path) -> Segment | None:
        """The file at a path, locked; None where there is none."""
        while True:
            try:
                found = cls(path, os.open(real, os.O_RDWR))
            except FileNotFoundError:
                return None
            if not take_lock(found.handle, wait=False):  # the records of two writers could not be told apart
                found.close()
                raise UsageError(f"another agent writes the journal {path}: close it first")
            if found.is_in_place():
                return found
            found.close()  # another process began a new segment in between

    def read_head(self, about: dict[str, Any]) -> None:
        with self.stream() as stream:
            self.header = form.read_header(stream, self.path, about)
            self.mark = form.read_mark(stream, self.header)
        self.position = Position(self.header.first - 1, self.header.before, self.header.size + form.MARK_BYTES)

    def stream(self, start: int = 0) -> BinaryIO:
        stream = os.fdopen(os.dup(self.handle), "rb")
        stream.seek(start)
        return stream

    # Writing

    def append(self, records: Sequence[dict[str, Any]]) -> None:
        """Append records, all of them or none."""
        before = self.position
        try:
            self.check()
            self.append_unchecked(records)
        except OSError as error:
            self.position = before
            self._tidy()
            raise JournalError(f"cannot write the journal {self.path}: {error.strerror}") from None

    def append_unchecked(self, records: Sequence[dict[str, Any]]) -> None:
        last, check, size = self.position
        lines = []
        for number, record in enumerate(records, last + 1):
            line, check = form.record_line(check, number, record)
            lines.append(line)
        content = b"".join(lines)
        self.put(content, size)
        self.position = Position(last + len(records), check, size + len(content))
        self.write_mark()

    def put(self, content: bytes, offset: int) -> None:
        written = 0
        while written < len(content):
            written += os.pwrite(self.handle, content[written:], offset + written)

    def write_mark(self, *, is_open: bool = True) -> None:
        self.put(form.mark_line(self.header.check, Mark(self.position.last, is_open)), self.header.size)

    def end_here(self) -> None:
        """Take away what lies behind the last good record."""
        os.ftruncate(self.handle, self.position.size)
        self.write_mark()

    def _tidy(self) -> None:
        """Take away what a failed write has left; where that fails too it is tried again before the next write."""
        self._untidy = True
        with suppress(OSError):
            os.ftruncate(self.handle, self.position.size)
            self._untidy = False

    def check(self) -> None:
        """Raise JournalError where the file is not the one at its path, or not as this process has left it."""
        if not self.is_in_place():
            raise JournalError(
                f"the journal {self.path} was moved or deleted while in use: put it back, or stop and start again"
            )
        if self._untidy:
            os.ftruncate(self.handle, self.position.size)
            self._untidy = False
        if os.fstat(self.handle).st_size != self.position.size:
            raise JournalError(f"the journal {self.path} was changed by another program: stop and start again")

    def is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self.handle))
        except FileNotFoundError:
            return False

    def copy_from(self, other: Segment, start: int) -> int:
        """Append the bytes of another segment from `start` on, as far as it goes now; where they ended there."""
        end, size = other.position.size, os.fstat(self.handle).st_size
        while start < end:
            part = os.pread(other.handle, min(COPY_BYTES, end - start), start)
            self.put(part, size)
            size, start = size + len(part), start + len(part)
        self.position = Position(other.position.last, other.position.check, size)
        return end
