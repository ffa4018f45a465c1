"""What was unusual in the rows an encoder was given, counted by column."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from showdown.basics.errors import UsageError

KINDS = ("missing", "unknown", "other", "new_columns")
MOST_COLUMNS = 100  # that are counted by name; a client may make up new ones without end
REST = "(all others)"


class EncodeCounts:
    """A counter that an owner of an `Encoder` keeps and hands to `encode`. Safe to share between threads."""

    def __init__(self) -> None:
        self.rows = 0  # encoded so far
        self.missing: Counter[str] = Counter()  # values that were missing, or not the number or date they should be
        self.unknown: Counter[str] = Counter()  # categories that the table did not have
        self.other: Counter[str] = Counter()  # categories gathered as 'other': rare in the table, or new
        self.new_columns: Counter[str] = Counter()  # columns that the table did not have, and were ignored
        self._lock = threading.Lock()

    def add(self, kind: str, column: str, count: int = 1) -> None:
        """Count `kind`, one of missing, unknown, other and new_columns."""
        if count:
            with self._lock:
                counter = getattr(self, kind)
                known = column in counter or kind != "new_columns" or len(counter) < MOST_COLUMNS
                counter[column[:200] if known else REST] += count

    def add_rows(self, count: int) -> None:
        with self._lock:
            self.rows += count

    def as_dict(self) -> dict[str, int | dict[str, int]]:
        with self._lock:
            return {"rows": self.rows, **{kind: dict(getattr(self, kind)) for kind in KINDS}}

    @classmethod
    def from_dict(cls, data: Any) -> EncodeCounts:
        """The counts that `as_dict` gave."""
        counts = cls()
        if not isinstance(data, dict) or data.keys() != {"rows", *KINDS} or not _are_counts({"rows": data["rows"]}):
            raise UsageError("the counts of its encoder are not such counts")
        counts.rows = data["rows"]
        for kind in KINDS:
            if not _are_counts(data[kind]):
                raise UsageError(f"its encoder's counts of {kind!r} must be whole numbers by column")
            getattr(counts, kind).update(data[kind])
        return counts


def _are_counts(data: Any) -> bool:
    return isinstance(data, dict) and all(type(count) is int and count >= 0 for count in data.values())
