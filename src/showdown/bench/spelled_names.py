"""Short names for the tables of older stores, whose names are spelled `table[path=/home/me/customers.csv,label=…]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from showdown.basics.errors import UsageError
from showdown.basics.text import name_of_file
from showdown.config.registry import parse_name


def shortened(spellings: Mapping[str, str]) -> dict[str, str]:
    """Names for problems of older stores, spelled `table[path=…]`, by spelling; the values tell their content apart."""
    fields = {spelled: found for spelled in spellings if (found := _fields(spelled))}
    short = {spelled: found.get("name") or name_of_file(found["path"]) for spelled, found in fields.items()}
    contents: dict[str, set[str]] = {}
    for spelled, name in short.items():
        contents.setdefault(name, set()).add(spellings[spelled])
    taken = set(spellings) - set(fields)
    return {
        spelled: name if len(contents[name]) == 1 and name not in taken else f"{name}:{_column(fields[spelled])}"
        for spelled, name in short.items()
    }


def _fields(spelled: str) -> dict[str, str]:
    """The fields of a table's spelling; empty for any other name."""
    if not spelled.startswith("table["):
        return {}
    try:
        found = parse_name(spelled)[1]
    except UsageError:
        return {}
    return found if PurePath(found.get("path", "")).name else {}


def _column(fields: Mapping[str, str]) -> str:
    return fields.get("label") or fields.get("rewards") or "?"
