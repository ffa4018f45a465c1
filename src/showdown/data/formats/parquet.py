"""Parquet files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.formats import BinaryFormat, first_line
from showdown.data.gzipped import BYTES_PER_BYTE, check_fits
from showdown.data.in_memory import as_frame


def read(path: Path) -> pd.DataFrame:
    import pyarrow.parquet

    try:
        held = pyarrow.parquet.read_metadata(path)
        groups = (held.row_group(number).total_byte_size for number in range(held.num_row_groups))
        check_fits(max(sum(groups), 8 * held.num_rows * held.num_columns) // BYTES_PER_BYTE)  # it is parsed already
        frame = pd.read_parquet(path)
    except UsageError:
        raise
    except Exception as error:  # damaged metadata makes pyarrow and pandas raise anything
        raise UsageError(f"it begins as a Parquet file does and is not a whole one ({first_line(error)})") from error
    return as_frame(frame)


FORMAT = BinaryFormat("Parquet", (b"PAR1",), read)
