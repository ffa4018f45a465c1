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
LONGEST = 200  # characters of a name that is added


def checked_name(name: Any) -> Name:
    """A name that an action may be given: text that can be printed, or a number where actions are numbers."""
    if type(name) is int and 0 <= name < 1 << 31:
        return name
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        raise UsageError("an action's name is text without spaces around it")
    if len(name) > LONGEST or not name.isprintable():
        raise UsageError(f"an action's name has at most {LONGEST} characters, all of which can be printed")
    return name


class Roster:
    def __init__(self, names: Sequence[Name | None], freed: Sequence[int] = ()) -> None:
        """`names` by slot, None without an action; `freed` are slots that had one, the first to be reused first."""
        self.names, self.freed = list(names), list(freed)
        self._slots = {name: slot for slot, name in enumerate(names) if name is not None}

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[Name]:
        return (name for name in self.names if name is not None)

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
        number = _number(name)
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

    # Changes

    def next_slot(self, can_start_anew: bool) -> int | None:
        """The slot that another action would get: one that was never used, or else the one that is free for longest."""
        unused = (slot for slot, name in enumerate(self.names) if name is None and slot not in self.freed)
        return next(unused, self.freed[0] if self.freed and can_start_anew else None)

    def put(self, slot: int, name: Name) -> None:
        self.names[slot], self._slots[name] = name, slot
        self.freed = [each for each in self.freed if each != slot]

    def remove(self, name: Name) -> None:
        slot = self._slots.pop(name)
        self.names[slot] = None
        self.freed.append(slot)

    def widen(self, slots: int) -> None:
        """Have so many slots."""
        self.names += [None] * (slots - len(self.names))

    @property
    def mask(self) -> np.ndarray | None:
        """Which slots have an action, (slots,) bool; None where all have."""
        if len(self._slots) == len(self.names):
            return None
        return np.array([name is not None for name in self.names])


def _number(name: Any) -> Any:
    """A number of NumPy's, or one that is written as text, as JSON has the names of an object; others as they are."""
    is_decimal = isinstance(name, str) and name.isdecimal() and name.isascii() and len(name) < 10
    is_written = is_decimal and str(int(name)) == name
    return int(name) if is_written or isinstance(name, np.integer) else name
