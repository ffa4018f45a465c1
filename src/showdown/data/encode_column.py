"""One column of a table as context: a number, a date, a 0/1, a one-hot block, or nothing, with the reason.

- Numbers: a missing value becomes the median, and a 0/1 column says where values were missing. Text counts as numbers
  where 95 % of it is; the rest is then missing. Infinite values are missing.
- Numbers as people write them ($1,234.00, 12.3%), dates (31/01/2024) and times (14:05), where every value is one: see
  `written_values`. Dates (datetime columns too, and text written 2024-01-31) are days since the first, times hours.
- Everything else is categorical, missing being a category of its own. Two categories make one 0/1 column, more make one
  column each; of more than 100, the 99 commonest are kept and the rest gathered as "other".
- Dropped: constant columns, columns without a value or with differences that float64 loses, nested values, and what
  looks like the name of a row.

Numbers are centred and scaled here in float64, so that a column of large numbers keeps its digits in float32; a
problem standardises them again on the rows of each trial. What was found is kept as a rule (`column_rules`), which
encodes later rows in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.data.column_rules import CategoryRule, NumberRule, Rule
from showdown.data.column_values import as_dates, as_numbers, categories, dates_in, days_since, written_numbers
from showdown.data.written_values import DATES, TIME, example, writing_of

MAX_CATEGORIES = 100  # one-hot columns a single column may become
ID_ROWS = 20  # below this many rows, distinct values prove little

_ID_NAME = re.compile(r"(^|[^a-z])(id|uuid|guid|index|idx|key|rowid|caseid|rownum)$|Id$|ID$|^unnamed", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """What became of one column."""

    name: str
    treatment: str  # number, date, time, 0/1, one-hot, label, reward or dropped
    dims: int  # context coordinates it became
    missing: int  # values that were missing
    note: str = ""  # why it was dropped, or what else a reader should know


class Encoded(NamedTuple):
    column: Column
    rule: Rule | None = None  # None where it is no context
    values: np.ndarray | None = None  # (rows, dims) float32

    @property
    def names(self) -> list[str]:
        """The names of its context coordinates."""
        return self.rule.names if self.rule else []


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
        dates = as_dates(series)
        writing = writing_of(series) if dates is None else ""
        if writing in DATES:
            dates = dates_in(series, writing)
        if dates is not None:
            first = dates.min()
            return _number(series, days_since(first, dates), keep=True, first=first.isoformat(), writing=writing)
        numbers = written_numbers(series, writing) if writing else as_numbers(series)
        if numbers is not None:
            return _number(series, numbers, keep=keep or writing == TIME, writing=writing)
    return _category(series, keep)


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


def _number(series: pd.Series, values: np.ndarray, *, keep: bool, first: str = "", writing: str = "") -> Encoded:
    why = "" if keep else looks_like_row_name(series, values)
    if why:
        return _dropped(series, why)
    missing = ~np.isfinite(values)
    present = values[~missing]
    if not present.size:
        return _dropped(series, "has no finite values")
    if _differences_are_lost(series, present):
        return _dropped(series, "differs too little for its size, even in float64: subtract a constant first")
    rule = NumberRule.fit(str(series.name), values, first, writing)
    notes = [example(writing)] if writing else []
    if not rule.dims:
        return _dropped(series, f"constant: always {present[0]:g}")
    unread = int(missing.sum() - series.isna().sum())
    if unread:
        notes.append(f"{unread:,} values that are not finite numbers counted as missing")
    if not rule.deviation:
        notes.append("constant where present: only whether it is missing is kept")
    treatment = "date" if first else "time" if writing == TIME else "number"
    column = Column(str(series.name), treatment, rule.dims, int(missing.sum()), "; ".join(notes))
    return Encoded(column, rule, rule.block(values))


def _differences_are_lost(series: pd.Series, present: np.ndarray) -> bool:
    """Whether float64, in which numbers are centred, holds the differences to less than 1 %: nanoseconds since 1970."""
    if present.min() == present.max():
        return bool(pd.api.types.is_integer_dtype(series)) and series.nunique() > 1
    return bool((present / np.abs(present).max()).std() < 100 * np.finfo(np.float64).eps)


def _category(series: pd.Series, keep: bool) -> Encoded:
    codes, names = categories(series)
    missing = int((codes < 0).sum())
    if not names:
        return _dropped(series, "has no values")
    why = "" if keep else looks_like_row_name(series, None)
    if why and not isinstance(series.dtype, pd.CategoricalDtype):
        return _dropped(series, why)
    note, gathers = "", len(names) + (missing > 0) > MAX_CATEGORIES
    if gathers:
        kept = MAX_CATEGORIES - 1 - (missing > 0)
        note = f"{len(names) - kept:,} rarer values gathered as 'other'"
        commonest = np.sort(np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")[:kept])
        place = np.full(len(names) + 1, kept)  # 'other'
        place[commonest] = np.arange(kept)
        place[-1] = -1  # code −1 stays missing
        codes, names = place[codes], [names[position] for position in commonest]
    rule = CategoryRule(str(series.name), tuple(names), gathers, missing > 0)
    if len(rule.values) == 1:
        return _dropped(series, f"constant: always {names[0]!r}")
    if missing:
        codes = np.where(codes < 0, len(rule.values) - 1, codes)
    treatment, note = ("0/1", f"1 is {rule.values[1]!r}") if rule.dims == 1 else ("one-hot", note)
    return Encoded(Column(rule.name, treatment, rule.dims, missing, note), rule, rule.block(codes))


def _dropped(series: pd.Series, why: str) -> Encoded:
    return Encoded(Column(str(series.name), "dropped", 0, int(series.isna().sum()), why))
