"""One column of a table as context: a number, a date, a 0/1, a one-hot block, or nothing, with the reason.

- Numbers: a missing value becomes the median, and a 0/1 column says where values were missing. Text counts as numbers
  where 95 % of it is; the rest is then missing. Infinite values are missing.
- Dates (datetime columns, or text written 2024-01-31): the number of days since the first.
- Everything else is categorical, missing being a category of its own. Two categories make one 0/1 column, more make one
  column each; of more than 100, the 99 commonest are kept and the rest gathered as "other".
- Dropped: constant columns, columns without a value, nested values, and what looks like the name of a row.

Numbers are centred and scaled here in float64, so that a column of large numbers keeps its digits in float32; a
problem standardises them again on the rows of each trial.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

MAX_CATEGORIES = 100  # one-hot columns a single column may become
NUMBER_SHARE = 0.95  # of a text column's values that must be numbers (or dates) for it to be one of numbers (or dates)
ID_ROWS = 20  # below this many rows, distinct values say little

_ID_NAME = re.compile(r"(^|[^a-z])(id|uuid|guid|index|idx|key|rowid|caseid|rownum)$|Id$|ID$|^unnamed", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


@dataclass(frozen=True)
class Column:
    """What became of one column."""

    name: str
    treatment: str  # number, date, 0/1, one-hot, label, reward or dropped
    dims: int  # context coordinates it became
    missing: int  # values that were missing
    note: str = ""  # why it was dropped, or what else a reader should know


class Encoded(NamedTuple):
    column: Column
    names: list[str]  # of its context coordinates
    values: np.ndarray | None  # (rows, dims) float32


def encode(series: pd.Series, *, categorical: bool = False, keep: bool = False) -> Encoded:
    """A column as context. `categorical` makes categories of numbers; `keep` keeps what looks like a row's name."""
    try:
        distinct = series.nunique()
    except TypeError:  # lists and the like have no hash
        return _dropped(series, "holds nested values")
    if distinct == 0:
        return _dropped(series, "has no values")
    if pd.api.types.is_complex_dtype(series):
        return _dropped(series, "holds complex numbers")
    if not categorical:
        days = as_days(series)
        if days is not None:
            return _number(series, days, "date", keep=True)
        numbers = as_numbers(series)
        if numbers is not None:
            return _number(series, numbers, "number", keep)
    return _category(series, keep)


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
    codes, texts = pd.factorize(series)  # each text is read once; code −1 is missing
    read = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = np.append(read, np.nan)[codes]
    enough = np.isfinite(numbers).sum() >= NUMBER_SHARE * (codes >= 0).sum()
    return numbers if enough else None


def as_days(series: pd.Series) -> np.ndarray | None:
    """The column in days since its first date, or None where it is not one of dates."""
    if not pd.api.types.is_datetime64_any_dtype(series):
        if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(series):
            return None
        present = series.dropna()
        if not all(_DATE.fullmatch(str(value)) for value in present.iloc[:ID_ROWS]):
            return None
    stamps = pd.to_datetime(
        series.astype("str") if series.dtype == object else series, format="ISO8601", errors="coerce", utc=True
    )
    if stamps.notna().sum() < NUMBER_SHARE * series.notna().sum():
        return None
    return ((stamps - stamps.min()) / pd.Timedelta(days=1)).to_numpy(dtype=np.float64, na_value=np.nan)


def categories(series: pd.Series) -> tuple[np.ndarray, list[str]]:
    """A code per row (−1 where missing) and the category each code stands for, in order of number or alphabet."""
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        codes, values = pd.factorize(series.to_numpy(dtype=np.float64, na_value=np.nan), sort=True)
        return codes, [str(int(value)) if value.is_integer() else str(value) for value in values.tolist()]
    codes, values = pd.factorize(series.astype("object"))
    texts = [str(value).strip() for value in values]
    order = [text for text in sorted(set(texts), key=_by_number if all(map(_is_number, texts)) else str) if text]
    place = {text: position for position, text in enumerate(order)}
    renumbered = np.array([*(place.get(text, -1) for text in texts), -1])  # blank text is missing; so is code −1
    return renumbered[codes], order


def looks_like_row_name(series: pd.Series, numbers: np.ndarray | None) -> str:
    """Why a column seems to name its rows rather than describe them, or nothing."""
    present = series.notna().sum()
    distinct = series.nunique()
    if present < ID_ROWS:
        return ""
    if numbers is not None:
        known = numbers[np.isfinite(numbers)]
        if distinct < present or len(known) < present or (known != np.round(known)).any():
            return ""
        if known.max() - known.min() == len(known) - 1:
            return "looks like a row number: consecutive whole numbers, none twice"
        return "looks like an id: by its name, and no value occurs twice" if _ID_NAME.search(str(series.name)) else ""
    if distinct == present or (distinct > MAX_CATEGORIES and distinct > present / 2):
        return f"looks like an id or free text: {distinct:,} different values in {present:,} rows"
    return ""


def _number(series: pd.Series, values: np.ndarray, treatment: str, keep: bool) -> Encoded:
    why = "" if keep else looks_like_row_name(series, values)
    if why:
        return _dropped(series, why)
    missing = ~np.isfinite(values)
    present = values[~missing]
    if not present.size:
        return _dropped(series, "has no finite values")
    parts, names, notes = [], [], []
    unread = int(missing.sum() - series.isna().sum())
    if unread:
        notes.append(f"{unread:,} values that are not finite numbers counted as missing")
    if present.min() < present.max():
        parts.append(_scaled(np.where(missing, np.median(present), values)))
        names.append(str(series.name))
    elif missing.any():
        notes.append("constant where present: only whether it is missing is kept")
    if missing.any():
        parts.append(missing)
        names.append(f"{series.name} is missing")
    if not parts:
        return _dropped(series, f"constant: always {present[0]:g}")
    column = Column(str(series.name), treatment, len(parts), int(missing.sum()), "; ".join(notes))
    return Encoded(column, names, np.stack(parts, axis=1).astype(np.float32))


def _scaled(values: np.ndarray) -> np.ndarray:
    values = values / np.abs(values).max()  # so that squares cannot overflow
    values -= values.mean()
    return values / (values.std() or 1.0)


def _category(series: pd.Series, keep: bool) -> Encoded:
    codes, names = categories(series)
    missing = int((codes < 0).sum())
    if not names:
        return _dropped(series, "has no values")
    why = "" if keep else looks_like_row_name(series, None)
    if why and not isinstance(series.dtype, pd.CategoricalDtype):
        return _dropped(series, why)
    note = ""
    if len(names) + (missing > 0) > MAX_CATEGORIES:
        kept = MAX_CATEGORIES - 1 - (missing > 0)
        note = f"{len(names) - kept:,} rarer values gathered as 'other'"
        commonest = np.sort(np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")[:kept])
        place = np.full(len(names) + 1, kept)  # 'other'
        place[commonest] = np.arange(kept)
        place[-1] = -1  # code −1 stays missing
        codes, names = place[codes], [*(names[position] for position in commonest), "other"]
    if missing:
        codes, names = np.where(codes < 0, len(names), codes), [*names, "missing"]
    if len(names) == 1:
        return _dropped(series, f"constant: always {names[0]!r}")
    if len(names) == 2:
        column = Column(str(series.name), "0/1", 1, missing, f"1 is {names[1]!r}")
        return Encoded(column, [f"{series.name}={names[1]}"], codes[:, None].astype(np.float32))
    column = Column(str(series.name), "one-hot", len(names), missing, note)
    values = (codes[:, None] == np.arange(len(names))).astype(np.float32)
    return Encoded(column, [f"{series.name}={name}" for name in names], values)


def _dropped(series: pd.Series, why: str) -> Encoded:
    return Encoded(Column(str(series.name), "dropped", 0, int(series.isna().sum()), why), [], None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _by_number(text: str) -> tuple[float, str]:
    return float(text), text
