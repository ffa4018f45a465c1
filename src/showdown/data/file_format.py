"""What a file format is: how a file of it begins, and how it is read into a pandas DataFrame.

An error in a file is a UsageError whose sentence begins with "it": the reader puts the file's name before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BinaryFormat:
    name: str  # what it is called in messages
    begins: tuple[bytes, ...]  # the first bytes of such a file, at most 8
    read: Callable[[Path], pd.DataFrame]


@dataclass(frozen=True)
class TextFormat:
    name: str  # what it is called in messages
    recognises: Callable[[str], bool]  # whether text that begins like this is in this format
    read: Callable[[str], pd.DataFrame]  # from the whole text
    is_read: bool = True  # False where `read` only says why such a file is refused


def first_line(error: BaseException) -> str:
    """Of a library's message, for a sentence of our own."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
