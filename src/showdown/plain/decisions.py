"""What was known at decisions whose rewards have not come, for learners that must be told it again."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

MOST = 100_000  # decisions whose rewards may never come


class Decisions:
    """Remembers something about each decision until its reward comes: by its context and its action."""

    def __init__(self) -> None:
        self._kept: defaultdict[tuple[bytes, int], list[Any]] = defaultdict(list)

    def remember(self, context: np.ndarray, action: int, known: Any) -> None:
        if len(self._kept) >= MOST:
            del self._kept[next(iter(self._kept))]
        self._kept[context.tobytes(), action].append(known)

    def recall(self, context: np.ndarray, action: int, otherwise: Any) -> Any:
        """What was known at the oldest such decision; `otherwise` for one that others made."""
        name = context.tobytes(), action
        known = self._kept.get(name)
        if not known:
            return otherwise
        first = known.pop(0)
        if not known:
            del self._kept[name]
        return first


def one_hot(count: int) -> list[tuple[int, ...]]:
    """The features of actions that are told apart by their numbers alone."""
    return [tuple(int(row == column) for column in range(count)) for row in range(count)]
