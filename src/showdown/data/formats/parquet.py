"""Parquet files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.formats import BinaryFormat, first_line
from showdown.data.in_memory import as_frame


def read(path: Path) -> pd.DataFrame:
    import pyarrow

    try:
        frame = pd.read_parquet(path)
    except (pyarrow.ArrowException, ValueError) as error:
        raise UsageError(f"it begins as a Parquet file does and is not a whole one ({first_line(error)})") from error
    return as_frame(frame)


FORMAT = BinaryFormat("Parquet", (b"PAR1",), read)
