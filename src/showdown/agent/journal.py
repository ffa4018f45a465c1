"""An append-only file of what an agent decided and learned, to be done again after a crash.

A record is handed to the system before the call that made it returns, and before the agent changes: a process that is
killed loses nothing it had answered, and a record that cannot be written changes nothing. (A machine that loses power
may lose the last seconds.) An agent remembers the number of its last record when it is saved; the journal then begins
a new segment after that record. `journal_format` says what the file looks like.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from showdown.agent import journal_format as form
from showdown.agent.journal_format import Broken, Header, JournalError, JournalLossError, JournalRecord
from showdown.agent.journal_segment import Position, Segment
from showdown.basics.errors import UsageError
from showdown.config import to_json
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec


class Journal:
    """Open for appending, and locked against other processes, under every name that the file has."""

    def __init__(
        self,
        path: Path,
        policy: Policy,
        spec: ProblemSpec,
        saved: tuple[int, str] = (0, ""),
        *,
        actions: Sequence[Any] = (),
        archive: bool = False,
        accept_loss: bool = False,
    ) -> None:
        """`saved` are the number and the check of the last record that the agent's file already holds.

        `actions` are the names of its actions by slot, which a new file begins with.
        """
        self._actions = list(actions)
        self.path, self._real = path, Path(os.path.realpath(path))
        features = {"action_dim": spec.action_dim} if spec.action_dim else {}
        self._about = {
            "policy": to_json(policy),
            "spec": {"context_dim": spec.context_dim, "num_actions": spec.num_actions, **features},
        }
        self._saved, self._check = saved[0], saved[1].encode() or form.START
        self._has_check = bool(saved[1])
        self._archive, self._accept_loss = archive, accept_loss
        self.notes: list[str] = []  # what whoever starts the agent should read
        try:
            found = Segment.open(path, self._real)
            self._segment = found or self._begin_without_file()
            if found is not None:
                self._read_head()
        except OSError as error:
            raise UsageError(f"cannot write the journal {path}: {error.strerror}") from None

    @property
    def position(self) -> Position:
        """After the last record."""
        return self._segment.position

    def close(self) -> None:
        self._segment.close()

    # Opening

    def _begin_without_file(self) -> Segment:
        if self._saved:
            self.notes.append(f"there was no journal {self.path}: if anything came after the last save, it is lost")
        return self._begin_afresh()

    def _begin_afresh(self) -> Segment:
        """A new file after the last record that was saved, in the place of whatever is there."""
        made = self._create(self._saved + 1, self._check)
        os.replace(self._temporary, self._real)
        return made

    @property
    def _temporary(self) -> Path:
        return self._real.with_name(f".{self._real.name}.new-segment")

    def _create(self, first: int, before: bytes) -> Segment:
        return Segment.create(self.path, self._temporary, self._about, self._actions, first, before)

    def _read_head(self) -> None:
        try:
            with self._segment.stream() as stream:
                old = (form.as_object(stream.readline()) or {}).get("format") == 1
            if old:
                self._upgrade()
            self._segment.read_head(self._about)
            mark = self._segment.mark
            if mark is not None and not mark.is_open:
                raise UsageError(
                    f"{self.path} is an old segment of a journal that goes on in another file: name that one"
                )
            if mark is None and not self._accept_loss:
                raise JournalLossError(
                    f"line 2 of the journal {self.path}, the count of its records, is damaged: {form.WAYS_ON}"
                )
        except BaseException:
            self.close()
            raise

    def _upgrade(self) -> None:
        """Put today's format in the place of a journal of format 1, which stays beside it."""
        old = self._segment
        with old.stream() as stream:
            first, records = form.old_records(stream, self.path, self._about)
            self._segment = self._create(first, form.START)
            for record in records:
                # it is under another name until it is whole
                self._segment.append_unchecked([record])
        self._keep_beside("format-1")
        os.replace(self._temporary, self._real)
        old.close()

    # Doing it again

    def replay(self) -> Iterator[JournalRecord]:
        """The records that came after the agent's save, the oldest first; afterwards the journal can be written."""
        segment = self._segment
        if segment.header.first > self._saved + 1:
            yield from self._archived(self._saved + 1)
        self._check_origin()
        broken: Broken | None = None
        with segment.stream(segment.position.size) as stream:
            for line in form.read_records(stream, segment.header):
                if isinstance(line, JournalRecord):
                    segment.position = Position(line.number, line.check, line.end)
                    self._check_origin()
                    if line.number > self._saved:
                        yield line
                elif line.number > self._saved:  # what is not needed may be damaged
                    broken = line
                    break
        self._settle(broken)

    def _check_origin(self) -> None:
        """Refuse a journal whose record at the time of the save is not the one that the agent's file remembers."""
        if self._has_check and self.position.last == self._saved and self.position.check != self._check:
            raise UsageError(
                f"the journal {self.path} belongs to another run of this agent: move it away, or name its own"
            )

    def _archived(self, wanted: int) -> Iterator[JournalRecord]:
        """The records from `wanted` to the last one before this file, from segments that were kept."""
        first = self._segment.header.first
        for path in sorted(self._real.parent.glob(f"{self._real.name}.segment-*")):
            with open(path, "rb") as stream:
                header = form.read_header(stream, path, self._about)
                form.read_mark(stream, header)
                for line in form.read_records(stream, header):
                    if wanted <= line.number < first:
                        if isinstance(line, Broken) or line.number != wanted:
                            break
                        wanted += 1
                        yield line
        if wanted < first:
            raise JournalLossError(
                f"the journal {self.path} begins at record {first}, and the agent's file ends before record {wanted}: "
                "a later state was saved elsewhere. Load that file, put older segments back, or move the journal away"
            )

    def _settle(self, broken: Broken | None) -> None:
        """Say what is lost, or refuse to go on; then make the file end after the last good record."""
        mark, found = self._segment.mark, self.position.last
        marked = 0 if mark is None else mark.last
        lost = max(0, max(marked, self._saved) - max(found, self._saved))  # a killed writer may not have set the mark
        torn = broken is not None and broken.unfinished and mark is not None and broken.number > marked
        if broken is not None and not torn:
            more = f", {lost} in all," if lost else ""
            self._lose(
                f"line {broken.line} of the journal {self.path} is damaged: record {broken.number} and those after "
                f"it{more} cannot be read"
            )
        elif lost:
            self._lose(
                f"the journal {self.path} ends after record {found}, and {marked} were written: {lost} records are gone"
            )
        elif mark is None:
            self._lose(f"line 2 of the journal {self.path} is damaged: records may be gone from its end")
        if found < self._saved:
            self._segment.close()
            self._segment = self._begin_afresh()
        else:
            self._segment.end_here()

    def _lose(self, sentence: str) -> None:
        if not self._accept_loss:
            raise JournalLossError(f"{sentence}: {form.WAYS_ON}")
        self.notes.append(f"{sentence}; the damaged file is kept as {self._keep_beside('damaged')}")

    def _keep_beside(self, kind: str) -> Path:
        """Copy the file to another name."""
        number = 1
        while (kept := self._real.with_name(f"{self._real.name}.{kind}-{number}")).exists():
            number += 1
        shutil.copyfile(self._real, kept)
        return kept

    # Writing

    def write(self, records: Sequence[dict[str, Any]]) -> None:
        """Append records, all of them or none; raises JournalError where they cannot be written."""
        self._segment.append(records)

    def cut(self, at: Position, actions: Sequence[Any], lock: AbstractContextManager) -> None:
        """Begin a new segment after a record that the agent's file now holds, when it had these actions.

        Most of it is done without the lock: callers wait for what was written meanwhile and for the change of names.
        """
        old, self._actions = self._segment, list(actions)
        if at.last < old.header.first:
            return
        try:
            new = self._create(at.last + 1, at.check)
            copied = new.copy_from(old, at.size)
            os.fsync(new.handle)
            with lock:
                old.check()
                new.copy_from(old, copied)
                new.write_mark()
                if self._archive:
                    _link(self._real, self._real.with_name(f"{self._real.name}.segment-{old.header.first:020d}"))
                os.replace(self._temporary, self._real)
                self._segment = new
                with suppress(OSError):  # for whoever opens the old file by another name
                    old.write_mark(is_open=False)
            old.close()
        except OSError as error:
            raise JournalError(f"cannot begin a new segment of the journal {self.path}: {error.strerror}") from None


def segments(path: Path) -> list[Path]:
    """The files of a journal, the oldest first: the segments that were kept, and the one that is written."""
    return [*sorted(path.parent.glob(f"{path.name}.segment-*")), path]


def journal_records(path: str | Path) -> Iterator[dict[str, Any]]:
    """Every record of a journal and of its older segments that were kept, the oldest first; nothing is changed.

    Raises JournalLossError where records are damaged or gone. What a killed writer has left unfinished is no record.
    """
    return (record for _, record in headed_records(Path(path)))


def headed_records(path: Path) -> Iterator[tuple[Header, dict[str, Any]]]:
    """The same, each with the header of its segment."""
    last = 0
    for file in segments(path):
        with open(file, "rb") as stream:
            header = form.read_header(stream, file)
            mark, found = form.read_mark(stream, header), header.first - 1
            marked = found if mark is None else mark.last
            for line in form.read_records(stream, header):
                if isinstance(line, Broken):
                    if line.unfinished and line.number > marked:
                        break
                    raise JournalLossError(f"line {line.line} of the journal {file} is damaged: put a copy back")
                found = line.number
                if found > last:
                    last = found
                    yield header, line.content
        if found < marked:
            raise JournalLossError(
                f"the journal {file} ends after record {found}, and {marked} were written: put a copy back"
            )


def _link(path: Path, name: Path) -> None:
    """Give a file a second name, or make a copy where the file system has no such names."""
    with suppress(FileNotFoundError):
        name.unlink()
    try:
        os.link(path, name)
    except OSError:
        shutil.copyfile(path, name)
