"""The formats of files, one module each: every module here defines `FORMAT` and is found without being listed.

A format says how a file of it begins, and how it is read into a pandas DataFrame. An error in a file is a UsageError
whose sentence begins with "it": the reader puts the file's name before it. Text that no format recognises is read as
delimited text (`data/delimited.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from showdown.basics.discover import defined, import_modules

if TYPE_CHECKING:
    import pandas as pd


MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "<null>", "None", "<NA>")
)


@dataclass(frozen=True)
class BinaryFormat:
    name: str  # what it is called in messages
    begins: tuple[bytes, ...]  # the first bytes of such a file, at most 8
    read: Callable[[Path], pd.DataFrame]
    is_one: Callable[[Path], bool] | None = (
        None  # where other formats begin with the same bytes: whether it is this one
    )


@dataclass(frozen=True)
class TextFormat:
    name: str  # what it is called in messages
    recognises: Callable[[str], bool]  # whether text that begins like this is in this format
    read: Callable[[str], pd.DataFrame]  # from the whole text
    is_read: bool = True  # False where `read` only says why such a file is refused


def first_line(error: BaseException) -> str:
    """The first line of a library's message, for a sentence of our own."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


@cache
def formats() -> tuple[BinaryFormat | TextFormat, ...]:
    return tuple(defined(module, "FORMAT") for module in import_modules(__name__, __path__).values())


def binary_format(start: bytes, path: Path) -> BinaryFormat | None:
    """The format of a file that begins with these bytes; one that looks further into the file is asked first."""
    begun = [known for known in formats() if isinstance(known, BinaryFormat) and start.startswith(known.begins)]
    begun.sort(key=lambda known: known.is_one is None)
    return next((known for known in begun if known.is_one is None or known.is_one(path)), None)


def text_format(sample: str) -> TextFormat | None:
    """The format of a file that begins with this text."""
    for known in formats():
        if isinstance(known, TextFormat) and known.recognises(sample):
            return known
    return None
