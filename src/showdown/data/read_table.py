"""A user's own file as a pandas DataFrame: delimited text, or any of `data/formats`; plain or gzipped.

The format is found from the content; the file's name decides nothing. What the columns mean is not decided here: see
`bandit_table`.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import IO, NamedTuple

import pandas as pd

from showdown.basics.errors import TooLargeError, UsageError
from showdown.data import delimited
from showdown.data.formats import BinaryFormat, binary_format, formats, text_format
from showdown.data.gzipped import opened

SAMPLE_BYTES = 1 << 18
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # bytes that text does not hold


class Frame(NamedTuple):
    table: pd.DataFrame
    written: str  # its format, in words


def read_table(
    path: str | os.PathLike[str], delimiter: delimited.DelimiterName = "auto", header: delimited.Header = "auto"
) -> Frame:
    """The table in a file; every error names the file and says in one sentence what is wrong with it."""
    path = Path(path).expanduser()
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    try:
        frame = _read(path, delimiter, header)
        if frame.table.empty:
            raise UsageError("it has no rows")
    except UsageError as error:
        raise UsageError(f"{path} cannot be used: {error}") from error
    except MemoryError as error:
        raise TooLargeError(f"{path} cannot be used: it does not fit into memory") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    return frame


def _read(path: Path, delimiter: delimited.DelimiterName, header: delimited.Header) -> Frame:
    with path.open("rb") as stream:
        start = stream.read(8)
    known = binary_format(start, path)
    if known is not None:
        return Frame(known.read(path), known.name)
    is_gzipped = start.startswith(b"\x1f\x8b")
    with opened(path, is_gzipped) as packed:
        sample = packed.read(SAMPLE_BYTES)
    encoding = _encoding(sample)

    def read(encoding: str) -> Frame:
        with io.TextIOWrapper(opened(path, is_gzipped), encoding=encoding, newline="") as stream:
            return _text(stream, sample.decode(encoding, errors="ignore"), len(sample), delimiter, header)

    try:
        return read(encoding)
    except UnicodeDecodeError:  # the sample was UTF-8 and what follows is not
        return read("latin-1")


def _text(
    stream: IO[str], sample: str, size: int, delimiter: delimited.DelimiterName, header: delimited.Header
) -> Frame:
    if not sample.strip():
        raise UsageError("it is empty")
    known = text_format(sample)
    if known is not None:
        return Frame(known.read(stream.read()), known.name)
    if size == SAMPLE_BYTES:  # its last line is cut short
        sample = sample[: sample.rfind("\n") + 1] or sample
    dialect = delimited.sniff(sample, delimiter, header)
    return Frame(delimited.read(stream, dialect), dialect.in_words())


def _encoding(sample: bytes) -> str:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if _CONTROL.search(sample):
        read = [format.name for format in formats() if isinstance(format, BinaryFormat) or format.is_read]
        known = f"{', '.join(read[:-1])} and {read[-1]}"
        raise UsageError(f"it is a binary file of a kind that is not known; delimited text, {known} are read")
    try:
        sample[: sample.rfind(b"\n") + 1].decode("utf-8")  # whole lines: a letter may be cut at the end
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"
