"""The formats of a table: one module each, found by its name. Adding a format is adding a file here.

A module has `write(table, width=None)`, which gives the text of a table (`width` is that of the terminal, None for a
file), and may say `NOTES_APART = True` where the text has no place for notes, which then go to stderr.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

FORMATS = tuple(sorted(module.name for module in iter_modules(__path__)))


def load(name: str) -> ModuleType:
    """The module of one of `FORMATS`."""
    return import_module(f"{__name__}.{name}")
