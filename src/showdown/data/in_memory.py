"""A table that is already in memory (a DataFrame or NumPy arrays) as a pandas DataFrame with columns named by text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError

MOST_DENSE = 1 << 27  # numbers a sparse matrix may become: 1 GiB


def is_sparse(array: Any) -> bool:
    return hasattr(array, "toarray") and hasattr(array, "nnz")


def dense(array: Any) -> np.ndarray:
    """An array; a sparse matrix (scipy's) is written out, zeros and all, if it is not too large for that."""
    if not is_sparse(array):
        try:
            return np.asarray(array)
        except ValueError:  # a pair of contexts and labels, say
            raise UsageError("this is no table: its parts have different lengths; give a DataFrame") from None
    numbers = math.prod(array.shape)
    if numbers > MOST_DENSE:
        size = " × ".join(f"{length:,}" for length in array.shape)
        raise UsageError(
            f"the sparse matrix of {size} would take {numbers * 8 / 2**30:.0f} GiB with its zeros written out; at most "
            f"{MOST_DENSE * 8 / 2**30:.0f} GiB is done: keep fewer columns, or reduce them first (TruncatedSVD, say)"
        )
    return np.asarray(array.toarray())


def as_frame(data: Any) -> pd.DataFrame:
    """A table already in memory: a DataFrame (its index is left out), a 2-D array, sparse or not, or arrays by name.

    DataFrames of polars and tables of pyarrow, which know how to become one of pandas, are taken too.
    """
    if not isinstance(data, pd.DataFrame) and hasattr(data, "to_pandas"):
        data = data.to_pandas()
    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
        frame.columns = [str(name) for name in frame.columns]
        if frame.columns.has_duplicates:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise UsageError(f"the table has two columns called {twice!r}")
    else:
        arrays = data if isinstance(data, Mapping) else {"column": data}
        frame = from_arrays(arrays)
    if frame.empty:
        raise UsageError("the table has no rows")
    return frame


def from_arrays(arrays: Mapping[str, Any]) -> pd.DataFrame:
    """A 1-D array is a column of its name; the columns of a 2-D array called `x` are `x_0`, `x_1`, …"""
    columns: dict[str, Any] = {}
    for name, array in arrays.items():
        array = dense(array)
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
        shapes = ", ".join(f"{name} {np.shape(array)}" for name, array in arrays.items())
        raise UsageError(f"its arrays do not have one length: {shapes}")
    return pd.DataFrame(columns)
