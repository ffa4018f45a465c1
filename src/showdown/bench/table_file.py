"""The trials of a cell as a Parquet table: from an outcome to bytes, and back to a table that was checked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from showdown.bench.record import Record
from showdown.metrics import per_checkpoint, per_trial, required
from showdown.simulate import Outcome

MOST_BYTES = 4 << 30  # of a table; a usual one has 50 kB


class NotATable(ValueError):
    """The text says what is wrong, to follow the name of the file."""


def to_bytes(outcome: Outcome) -> bytes:
    trials = np.arange(len(outcome.action_counts))
    # curves are drawn, not added up: float32 halves the file
    curves = {name: curve.astype("float32") for name, curve in outcome.curves.items()}
    columns = {"trial": trials, **outcome.columns, "action_counts": outcome.action_counts, **curves}
    table = pa.table({name: _array(np.asarray(item)) for name, item in columns.items()})
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue().to_pybytes()


def _array(values: np.ndarray) -> pa.Array:
    """One number or one list per trial. By way of pandas this takes three times as long."""
    if values.ndim == 1:
        return pa.array(values)
    ends = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.ascontiguousarray(values).ravel()))


def from_bytes(content: bytes, record: Record) -> pd.DataFrame:
    """The table of a done cell; NotATable if it is broken, or not the one that the record is about."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        if file.metadata.num_rows != record.trials or _values(file) > _most_values(record):
            raise NotATable(f"does not hold the {record.trials} trials of its record")
        table = file.read().to_pandas()
    except NotATable:
        raise
    except Exception as error:  # pyarrow raises many kinds for a broken file
        raise NotATable(f"cannot be read ({type(error).__name__})") from None
    if not _is_table_of(table, record):
        raise NotATable(f"does not hold the {record.trials} trials of its record")
    return table


def _values(file: pq.ParquetFile) -> int:
    """The numbers that the file says it holds; a few bytes can claim to hold billions."""
    groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    return max((group.column(column).num_values for group in groups for column in range(group.num_columns)), default=0)


def _most_values(record: Record) -> int:
    """Of one column."""
    return record.trials * max(len(record.checkpoints), record.num_actions or 1000, 1)


def _is_table_of(table: pd.DataFrame, record: Record) -> bool:
    """Whether a table holds the trials of a done cell: every column, numbers in it, a value for each checkpoint."""
    curves = list(per_checkpoint())
    numbers, lists = ["trial", *required()], ["action_counts", *curves]
    if len(table) != record.trials or not {*numbers, *lists} <= set(table):
        return False
    numbers += [name for name in per_trial() if name in table and name not in numbers]
    columns = {name: table[name].to_numpy() for name in [*numbers, *lists]}  # many times as fast to look at
    if not all(columns[name].dtype.kind in "biuf" and np.isfinite(columns[name]).all() for name in numbers):
        return False
    points = len(record.checkpoints)
    return all(isinstance(item, np.ndarray) for name in lists for item in columns[name]) and all(
        len(item) == points for name in curves for item in columns[name]
    )
