"""Which actions an agent has. Each has a slot: its place in the arrays of what was learned."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.float32 import shown

Name = str | int  # an action's number where nobody has given it a name
SHOWN = 20  # names in a sentence


class Roster:
    def __init__(self, names: Sequence[Name | None]) -> None:
        """`names` by slot; None is a slot without an action."""
        self.names = list(names)
        self._slots = {name: slot for slot, name in enumerate(names) if name is not None}

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._slots)

    def __contains__(self, name: object) -> bool:
        return name in self._slots

    @property
    def is_numbered(self) -> bool:
        """Whether the actions are 0, 1, 2, … and every slot has one."""
        return self.names == list(range(len(self.names)))

    def slot(self, name: Any) -> int:
        """The slot of an action; raises UsageError, in one sentence, where there is no such action."""
        found = self._slots.get(name) if type(name) in (str, int) else None
        return self._slot_of_other(name) if found is None else found

    def _slot_of_other(self, name: Any) -> int:
        """The same for what is written in another way: a number of NumPy's, or '3' as 3."""
        number = int(name) if isinstance(name, np.integer) else name
        if self.is_numbered:
            if type(number) is not int:
                raise UsageError(f"an action is a whole number from 0 to {len(self) - 1} here, not {shown(name)}")
            if number not in self._slots:
                raise UsageError(f"action must lie between 0 and {len(self) - 1}, not {shown(name)}")
            return self._slots[number]
        for written in (number, str(name)):
            if type(written) in (str, int) and written in self._slots:
                return self._slots[written]
        near = difflib.get_close_matches(str(name), [str(known) for known in self._slots], n=1)
        some = ", ".join(str(known) for known in list(self._slots)[:SHOWN]) + (", …" if len(self) > SHOWN else "")
        hint = f"did you mean {near[0]!r}?" if near else f"the actions are {some}"
        raise UsageError(f"no action is called {str(name)[:60]!r}; {hint}")

    @property
    def mask(self) -> np.ndarray | None:
        """Which slots have an action, (slots,) bool; None where all have."""
        if len(self._slots) == len(self.names):
            return None
        return np.array([name is not None for name in self.names])
