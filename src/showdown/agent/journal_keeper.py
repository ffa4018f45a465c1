"""What an agent needs of its journal, whether it has one or not."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from showdown.agent.journal import Journal
from showdown.agent.journal_format import JournalError
from showdown.agent.journal_segment import Position


class JournalKeeper:
    """Writes records where there is a journal; remembers the last one where there was."""

    def __init__(self) -> None:
        self._journal: Journal | None = None
        self.last: tuple[int, str] = (0, "")  # number and check of the last record that the agent's state holds
        self.notes: list[str] = []  # records that the journal has lost
        self.trouble = ""  # why the last write failed, where it did

    def attach(self, journal: Journal) -> None:
        """Go on in a journal, after its records were done again."""
        self._journal, self.notes = journal, journal.notes
        self._remember(journal)

    def _remember(self, journal: Journal) -> None:
        self.last = journal.position.last, journal.position.check.decode()

    def write(self, *records: dict[str, Any]) -> None:
        """Write records before anything changes; raises JournalError where that fails."""
        if self._journal is None:
            return
        try:
            self._journal.write(records)
        except JournalError as error:
            self.trouble = str(error)
            raise
        self.trouble = ""
        self._remember(self._journal)

    @property
    def position(self) -> Position | None:
        return None if self._journal is None else self._journal.position

    def cut(self, position: Position | None, actions: Sequence[Any], lock: AbstractContextManager) -> None:
        """Begin a new segment after what was saved. Where that fails the journal goes on as it is, and it is said."""
        if self._journal is None or position is None:
            return
        try:
            self._journal.cut(position, actions, lock)
        except JournalError as error:
            self.trouble = str(error)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None
