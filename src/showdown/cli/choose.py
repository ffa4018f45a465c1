"""Names a user asks for: patterns matched against what there is, and a hint where nothing matches."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable

from showdown.basics.errors import UsageError


def chosen(text: str | None, noun: str, stored: Iterable[str]) -> list[str] | None:
    """The store's names that `A,B*` asks for, in the order asked; None for all."""
    from showdown.config.registry import split_outside_brackets

    if text is None:
        return None
    known = list(dict.fromkeys(stored))
    names: dict[str, None] = {}
    for name in split_outside_brackets(text):
        pattern = name.replace("[", "[[]")  # a bracket is an override here, not a set of letters
        matches = [one for one in known if fnmatch.fnmatchcase(one, pattern)]
        if not matches:
            raise UsageError(f"no cell of the {noun} {name!r} is in the store{near(name, known)}")
        names.update(dict.fromkeys(matches))
    if not names:
        raise UsageError(f"no {noun} is named in {text!r}")
    return list(names)


def near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
