"""Which of the names that a store holds are meant."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from showdown.basics.errors import UsageError
from showdown.basics.text import near
from showdown.config.registry import split_outside_brackets


def chosen_names(asked: str | Iterable[str], noun: str, held: Iterable[str]) -> list[str]:
    """Which of the names that are held are asked for, in the order asked; raises UsageError for one that is none."""
    held = list(dict.fromkeys(held))
    parts = split_outside_brackets(asked) if isinstance(asked, str) else list(asked)
    names: dict[str, None] = {}
    for name in parts:
        pattern = name.replace("[", "[[]")  # a bracket is an override here, not a set of letters
        matches = [name] if name in held else [one for one in held if fnmatch.fnmatchcase(one, pattern)]
        if not matches:
            raise UsageError(f"no cell of the {noun} {name!r} is in the store{near(name, held)}")
        names.update(dict.fromkeys(matches))
    if not names:
        raise UsageError(f"no {noun} is named in {asked!r}")
    return list(names)
