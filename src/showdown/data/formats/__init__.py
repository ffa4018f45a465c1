"""The formats of files, one module each: every module here defines `FORMAT` and is found without being listed.

Text that no format recognises is read as delimited text (`data/delimited.py`).
"""

from __future__ import annotations

from functools import cache

from showdown.basics.discover import defined, import_modules
from showdown.data.file_format import BinaryFormat, TextFormat


@cache
def formats() -> tuple[BinaryFormat | TextFormat, ...]:
    return tuple(defined(module, "FORMAT") for module in import_modules(__name__, __path__).values())


def binary_format(start: bytes) -> BinaryFormat | None:
    """The format of a file that begins with these bytes."""
    for known in formats():
        if isinstance(known, BinaryFormat) and start.startswith(known.begins):
            return known
    return None


def text_format(sample: str) -> TextFormat | None:
    """The format of a file that begins with this text."""
    for known in formats():
        if isinstance(known, TextFormat) and known.recognises(sample):
            return known
    return None
