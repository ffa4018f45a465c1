"""What a column of a table holds: numbers, dates or categories, in whatever form they are written.

Used when a table is first understood (`encode_column`) and when later rows are encoded in the same way
(`column_rules`), so that both read a value alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.written_values import DATES, TIME, read_date, read_number, writing_of

NUMBER_SHARE = 0.95  # of a text column's values that must be numbers (or dates) for it to be one of numbers (or dates)
LOOKED_AT = 20  # values of a text column that must all look like dates before the rest is read

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


def as_numbers(series: pd.Series) -> np.ndarray | None:
    """The column in float64 with NaN for what is no number, or None where it is not one of numbers."""
    if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(series):
        return None
    if pd.api.types.is_timedelta64_dtype(series):
        return series.dt.total_seconds().to_numpy(np.float64)
    if pd.api.types.is_numeric_dtype(series):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.infer_dtype(series, skipna=True) == "boolean":
        return None
    codes, texts = distinct(series)  # each text is read once; code −1 is missing
    numbers = np.append(numbers_in(texts), np.nan)[codes]
    enough = np.isfinite(numbers).sum() >= NUMBER_SHARE * (codes >= 0).sum()
    return numbers if enough else None


def numbers_in(texts: Sequence[Any] | np.ndarray | pd.Index) -> np.ndarray:
    """Each text as a number; NaN where it is none."""
    try:
        return pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:  # a whole number above the largest float
        return np.array([_as_float(value) for value in texts], np.float64)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return np.nan


def distinct(series: pd.Series) -> tuple[np.ndarray, Any]:
    """The number of each row's value among the different ones (−1 where missing), and those."""
    try:
        return pd.factorize(series)
    except TypeError:
        raise UsageError(
            f"the column {str(series.name)!r} holds nested values (lists, say), which are neither numbers nor names"
        ) from None


def as_dates(series: pd.Series) -> pd.Series | None:
    """The column as dates with NaT for what is no date, or None where it is not one of dates."""
    if not pd.api.types.is_datetime64_any_dtype(series):
        if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(series):
            return None
        present = series.dropna()
        if not all(_DATE.fullmatch(str(value)) for value in present.iloc[:LOOKED_AT]):
            return None
    dates = dates_in(series)
    return None if dates.notna().sum() < NUMBER_SHARE * series.notna().sum() else dates


def dates_in(series: pd.Series, writing: str = "") -> pd.Series:
    """Each value as a date, in UTC; NaT where it is none. A date may be written as 2024-01-31 whatever the writing."""
    if writing and not pd.api.types.is_datetime64_any_dtype(series):
        values = series.astype("object")
        written = pd.to_datetime(values.map(lambda value: read_date(value, writing)), utc=True, errors="coerce")
        return written if written.notna().all() else written.fillna(dates_in(values))
    texts = series.astype("str") if series.dtype == object else series
    return pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)


def written_numbers(series: pd.Series, writing: str) -> np.ndarray:
    """Each value of a column of numbers or times written so; NaN where it is missing."""
    codes, texts = distinct(series.astype("object"))
    return np.array([*(read_number(text, writing) for text in texts), np.nan], np.float64)[codes]


def numbers_of(series: pd.Series) -> np.ndarray | None:
    """The numbers of a column, also where all of it is written as money, percentages or with thousands; else None."""
    writing = writing_of(series)
    return written_numbers(series, writing) if writing and writing not in (*DATES, TIME) else as_numbers(series)


def days_since(first: pd.Timestamp, dates: pd.Series) -> np.ndarray:
    return ((dates - first) / pd.Timedelta(days=1)).to_numpy(dtype=np.float64, na_value=np.nan)


def categories(series: pd.Series) -> tuple[np.ndarray, list[str]]:
    """A code per row (−1 where missing) and the category each code stands for, in order of number or alphabet."""
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        codes, values = pd.factorize(series.to_numpy(dtype=np.float64, na_value=np.nan), sort=True)
        return codes, [number_text(value) for value in values.tolist()]
    codes, values = distinct(series.astype("object"))
    texts = [str(value).strip() for value in values]
    order = [text for text in sorted(set(texts), key=_by_number if all(map(_is_number, texts)) else str) if text]
    place = {text: position for position, text in enumerate(order)}
    renumbered = np.array([*(place.get(text, -1) for text in texts), -1])  # blank text is missing; so is code −1
    return renumbered[codes], order


def number_text(value: float) -> str:
    """A number as the name of a category: 3 rather than 3.0."""
    return str(int(value)) if value.is_integer() else str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _by_number(text: str) -> tuple[float, str]:
    return float(text), text
