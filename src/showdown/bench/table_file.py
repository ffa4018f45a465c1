"""The trials of a cell as a Parquet table: from an outcome to bytes, and back to a table that was checked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from showdown.bench.record import Record
from showdown.metrics import METRICS, per_checkpoint, per_trial, required
from showdown.play.simulate import Outcome

MOST_BYTES = 4 << 30  # of a table; a usual one has 50 kB


class NotATable(ValueError):
    """A file is not the table of its cell. The text says why, and follows the name of the file."""


def to_bytes(outcome: Outcome) -> bytes:
    trials = np.arange(len(outcome.action_counts))
    # curves are drawn, not added up: float32 halves the file
    curves = {name: curve.astype("float32") for name, curve in outcome.curves.items()}
    columns = {"trial": trials, **outcome.columns, "action_counts": outcome.action_counts, **curves}
    return encoded(pa.table({name: _array(np.asarray(item)) for name, item in columns.items()}))


def encoded(table: pa.Table, level: int | None = None) -> bytes:
    """A table as Parquet; `level` is that of zstd, where a small file is worth the time.

    Floats are split into streams of bytes, since neighbouring values of a curve have equal first bytes. 30 neural cells
    take half of the bytes that dictionaries give, a third of the time to write, and two thirds of the time to read.
    """
    stream = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(None),
        stream,
        compression="zstd",
        compression_level=level,
        use_dictionary=False,
        use_byte_stream_split=[path for field in table.schema if (path := _floats_in(field)) is not None],
        write_statistics=False,
        store_schema=False,  # Parquet's own types say it all
    )
    return stream.getvalue().to_pybytes()


def _floats_in(field: pa.Field) -> str | None:
    """The path in a Parquet file of a column of floats, or of lists of floats; None for any other column."""
    if pa.types.is_floating(field.type):
        return field.name
    is_list = pa.types.is_list(field.type) and pa.types.is_floating(field.type.value_type)
    return f"{field.name}.list.element" if is_list else None


def _array(values: np.ndarray) -> pa.Array:
    """An Arrow array with one number or one list per trial; three times as fast as by way of pandas."""
    if values.ndim == 1:
        return pa.array(values)
    ends = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.ascontiguousarray(values).ravel()))


def from_bytes(content: bytes, record: Record) -> pd.DataFrame:
    """The table of a done cell; NotATable if it is broken, or not the one that the record is about."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        small = file.metadata.num_rows == record.trials and _values(file) <= _most_values(record)
        table = file.read(use_threads=False) if small else None  # threads cost more than they gain in so small a file
        if table is not None and _is_table_of(table, record):
            return table.to_pandas(use_threads=False)
    except Exception as error:  # pyarrow raises many kinds for a broken file
        raise NotATable(f"cannot be read ({type(error).__name__})") from None
    raise NotATable(f"does not hold the {record.trials} trials of its record")


def _values(file: pq.ParquetFile) -> int:
    """The numbers that the file says it holds; a few bytes can claim to hold billions."""
    groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    return max((group.column(column).num_values for group in groups for column in range(group.num_columns)), default=0)


def _most_values(record: Record) -> int:
    """The most values that one column of this record's table may hold."""
    return record.trials * max(len(record.checkpoints), record.num_actions or 1000, 1)


def _is_table_of(table: pa.Table, record: Record) -> bool:
    """Whether a table holds the trials of a done cell: every column, numbers in it, a value for each checkpoint."""
    curves, held = list(per_checkpoint()), set(table.column_names)
    numbers, lists = ["trial", *required()], ["action_counts", *curves]
    if len(held) != table.num_columns or not {*numbers, *lists} <= held:
        return False
    numbers += [name for name in per_trial() if name in held and name not in numbers]
    points = len(record.checkpoints)
    # NaN where no action could be played throughout, since actions come and go
    fixed = {metric.fixed_column for metric in METRICS.values()}
    return (
        all(_are_finite(table[name], or_nan=name in fixed) for name in numbers)
        and all(_is_list(table[name]) for name in lists)
        and all(pc.all(pc.equal(pc.list_value_length(table[name]), points)).as_py() for name in curves)
    )


def _are_finite(column: pa.ChunkedArray, *, or_nan: bool = False) -> bool:
    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if not is_number or column.null_count:
        return False
    values = column.to_numpy()
    return bool((np.isfinite(values) | (or_nan & np.isnan(values))).all())


def _is_list(column: pa.ChunkedArray) -> bool:
    kind = column.type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return is_list and not column.null_count
