"""A person's own file as a pandas DataFrame: delimited text, Parquet, ARFF or KEEL, NumPy; plain or gzipped.

What a file is, is read from its content; its name decides nothing. Nothing is interpreted here: see `understanding`.
"""

from __future__ import annotations

import gzip
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from showdown.data import arff, delimited
from showdown.errors import UsageError

SAMPLE_BYTES = 1 << 18
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # bytes that text does not hold


class Frame(NamedTuple):
    table: pd.DataFrame
    told: str  # how it was written, in words


def read_frame(
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
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    return frame


def as_frame(data: Any) -> pd.DataFrame:
    """A table already in memory: a DataFrame (its index is left out), a 2-D array, or arrays by name."""
    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
        frame.columns = [str(name) for name in frame.columns]
        if frame.columns.has_duplicates:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise UsageError(f"the table has two columns called {twice!r}")
    else:
        arrays = data if isinstance(data, Mapping) else {"column": np.asarray(data)}
        frame = _from_arrays(arrays)
    if frame.empty:
        raise UsageError("the table has no rows")
    return frame


def _read(path: Path, delimiter: delimited.DelimiterName, header: delimited.Header) -> Frame:
    with path.open("rb") as stream:
        start = stream.read(8)
    if start.startswith(b"PAR1"):
        return Frame(as_frame(_parquet(path)), "Parquet")
    if start.startswith((b"\x93NUMPY", b"PK\x03\x04")):
        return Frame(_numpy(path), "NumPy")
    opener = gzip.open if start.startswith(b"\x1f\x8b") else open
    try:
        with opener(path, "rb") as packed:
            sample = packed.read(SAMPLE_BYTES)
    except (EOFError, gzip.BadGzipFile) as error:
        raise UsageError("it is not a whole gzip file") from error
    encoding = _encoding(sample)

    def read(encoding: str) -> Frame:
        with opener(path, "rt", encoding=encoding, newline="") as stream:
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
    if arff.is_arff(sample):
        return Frame(arff.read(stream.read()), "ARFF")
    if size == SAMPLE_BYTES:  # its last line is cut short
        sample = sample[: sample.rfind("\n") + 1] or sample
    dialect = delimited.sniff(sample, delimiter, header)
    return Frame(delimited.read(stream, dialect), dialect.told())


def _encoding(sample: bytes) -> str:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if _CONTROL.search(sample):
        raise UsageError("it is a binary file of a kind that is not known; CSV, Parquet, ARFF and NumPy are read")
    try:
        sample[: sample.rfind(b"\n") + 1].decode("utf-8")  # whole lines: a letter may be cut at the end
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _parquet(path: Path) -> pd.DataFrame:
    import pyarrow

    try:
        return pd.read_parquet(path)
    except (pyarrow.ArrowException, ValueError) as error:
        raise UsageError(f"it begins as a Parquet file does and is not a whole one ({_first_line(error)})") from error


def _numpy(path: Path) -> pd.DataFrame:
    try:
        with path.open("rb") as stream:
            held = np.load(stream, allow_pickle=False)
            if isinstance(held, np.ndarray):
                return _from_arrays({"column": held})
            if not held.files or not all(name.endswith(".npy") for name in held.zip.namelist()):
                raise UsageError("it is a zip archive and not NumPy's; unpack it first")
            return _from_arrays({name: held[name] for name in held.files})
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError(f"it cannot be read as a NumPy file: {_first_line(error)}") from error


def _from_arrays(arrays: Mapping[str, Any]) -> pd.DataFrame:
    """A 1-D array is a column of its name; the columns of a 2-D array called `x` are `x_0`, `x_1`, …"""
    columns: dict[str, Any] = {}
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.names and array.ndim == 1:
            columns |= {field: array[field] for field in array.dtype.names}
        elif array.ndim == 1:
            columns[str(name)] = array
        elif array.ndim == 2:
            columns |= {f"{name}_{position}": column for position, column in enumerate(array.T)}
        else:
            raise UsageError(f"the array {name!r} has {array.ndim} dimensions; a table needs one or two")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        told = ", ".join(f"{name} {np.shape(array)}" for name, array in arrays.items())
        raise UsageError(f"its arrays do not have one length: {told}")
    return pd.DataFrame(columns)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
