"""How one column of a table becomes context, as a fitted value: what was found in the table, applied to any later row.

A rule gives the coordinates of one value (`encode_one`) or of a whole column (`encode`), and counts what was unusual.
NaN in a coordinate stands for "says nothing": the encoder puts the table's mean there. That happens where a category is
unknown, or missing though none was missing in the table.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from showdown.data.column_values import dates_in, days_since, number_text, numbers_in
from showdown.data.encode_counts import EncodeCounts
from showdown.data.formats import MISSING
from showdown.data.written_values import read_number

FARTHEST = 1e18  # deviations from the mean; a number beyond counts as missing, as an infinite one does


@dataclass(frozen=True)
class NumberRule:
    """A column of numbers or, where `first` is a date, of dates."""

    name: str
    median: float  # put where a value is missing
    peak: float  # numbers are divided by it first, so that squares cannot overflow
    mean: float  # of numbers / peak
    deviation: float  # of numbers / peak; 0 where there is no coordinate for the value, because it never varied
    marks_missing: bool  # whether a coordinate says that the value is missing
    first: str = ""  # the first date of the table; dates are days since then
    writing: str = ""  # how text is read, where not plainly: see `written_values`

    @classmethod
    def fit(cls, name: str, values: np.ndarray, first: str = "", writing: str = "") -> NumberRule:
        """The rule that fits `values`, which hold at least one finite number."""
        missing = ~np.isfinite(values)
        present = values[~missing]
        median, some_missing = float(np.median(present)), bool(missing.any())
        if present.min() == present.max():
            return cls(name, median, 1.0, 0.0, 0.0, some_missing, first, writing)
        filled = np.where(missing, median, values)
        peak = float(np.abs(filled).max())
        scaled = filled / peak
        mean = float(scaled.mean())
        deviation = float((scaled - mean).std()) or 1.0
        return cls(name, median, peak, mean, deviation, some_missing, first, writing)

    @property
    def dims(self) -> int:
        return (self.deviation > 0) + self.marks_missing

    @property
    def names(self) -> list[str]:
        return [self.name] * (self.deviation > 0) + [f"{self.name} is missing"] * self.marks_missing

    def block(self, values: np.ndarray, counts: EncodeCounts | None = None) -> np.ndarray:
        """The coordinates of numbers (or days), (rows, dims) float32."""
        missing = ~np.isfinite(values)
        parts = []
        if self.deviation:
            with np.errstate(over="ignore", invalid="ignore"):
                missing |= np.abs((values / self.peak - self.mean) / self.deviation) > FARTHEST
            parts.append((np.where(missing, self.median, values) / self.peak - self.mean) / self.deviation)
        if self.marks_missing:
            parts.append(missing)
        if counts is not None:
            counts.add("missing", self.name, int(missing.sum()))
        return np.stack(parts, axis=1).astype(np.float32)

    def encode(self, series: pd.Series, counts: EncodeCounts | None) -> np.ndarray:
        if self.first:
            return self.block(days_since(self._first, dates_in(series, self.writing)), counts)
        if pd.api.types.is_numeric_dtype(series):
            return self.block(series.to_numpy(dtype=np.float64, na_value=np.nan), counts)
        return self.block(_each_distinct(series, self._read), counts)

    def encode_one(self, value: Any, counts: EncodeCounts | None) -> list[float]:
        """The same in plain floats, which for one value is ten times as fast."""
        number = self._days(value) if self.first else self._read(value)
        scaled, missing = 0.0, not math.isfinite(number)
        if self.deviation:
            scaled = (number / self.peak - self.mean) / self.deviation
            if missing or abs(scaled) > FARTHEST:
                scaled, missing = (self.median / self.peak - self.mean) / self.deviation, True
        if missing and counts is not None:
            counts.add("missing", self.name)
        return [scaled] * (self.deviation > 0) + [float(missing)] * self.marks_missing

    def _read(self, value: Any) -> float:
        if self.writing and isinstance(value, str | datetime.time):
            return read_number(value, self.writing)
        return _number(value)

    def _days(self, value: Any) -> float:
        if isinstance(value, datetime.datetime):  # a Timestamp is one; NaT too
            date = pd.Timestamp(value)
            date = date.tz_localize("UTC") if date.tz is None else date
        else:
            date = dates_in(pd.Series([value]), self.writing)[0]
        return math.nan if pd.isna(date) else (date - self._first) / pd.Timedelta(days=1)

    @cached_property
    def _first(self) -> pd.Timestamp:
        return pd.Timestamp(self.first)


@dataclass(frozen=True)
class CategoryRule:
    """A column of categories: one coordinate each, or a single 0/1 where there are two."""

    name: str
    categories: tuple[str, ...]
    gathers_other: bool  # whether further categories are taken together as 'other'
    marks_missing: bool  # whether missing is a category of its own

    @cached_property
    def values(self) -> tuple[str, ...]:
        """What each code stands for."""
        return (*self.categories, *["other"] * self.gathers_other, *["missing"] * self.marks_missing)

    @property
    def dims(self) -> int:
        return 1 if len(self.values) == 2 else len(self.values)

    @property
    def names(self) -> list[str]:
        return [f"{self.name}={value}" for value in (self.values[1:] if self.dims == 1 else self.values)]

    def block(self, codes: np.ndarray) -> np.ndarray:
        """The coordinates of codes, (rows, dims) float32; code −1 says nothing."""
        if self.dims == 1:
            found = codes[:, None].astype(np.float32)
        else:
            found = (codes[:, None] == np.arange(self.dims)).astype(np.float32)
        found[codes < 0] = np.nan
        return found

    def encode(self, series: pd.Series, counts: EncodeCounts | None) -> np.ndarray:
        kinds = {"missing": len(self.values), "unknown": len(self.values) + 1, "other": len(self.values) + 2}

        def marked(value: Any) -> float:  # unusual values get a code of their own, so that they can be counted
            code, kind = self._code(value)
            return kinds[kind] if kind else code

        codes = _each_distinct(series, marked).astype(np.int64)
        for kind, mark in kinds.items():
            unusual = codes == mark
            if counts is not None:
                counts.add(kind, self.name, int(unusual.sum()))
            codes[unusual] = self._unusual[kind]
        return self.block(codes)

    def encode_one(self, value: Any, counts: EncodeCounts | None) -> list[float]:
        code, kind = self._code(value)
        if counts is not None and kind:
            counts.add(kind, self.name)
        return self._blocks[code]

    def _code(self, value: Any) -> tuple[int, str]:
        """The code of a value, and what is unusual about it."""
        text = "" if _absent(value) else str(value).strip()
        for spelling in _spellings(value, text):
            if spelling in self._places:
                return self._places[spelling], ""
        kind = "missing" if text in MISSING else "other" if self.gathers_other else "unknown"
        return self._unusual[kind], kind

    @cached_property
    def _blocks(self) -> list[list[float]]:
        """The coordinates of each code; of −1 they come last."""
        return self.block(np.array([*range(len(self.values)), -1])).tolist()

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.categories)}

    @cached_property
    def _unusual(self) -> dict[str, int]:
        missing = len(self.values) - 1 if self.marks_missing else -1
        return {"missing": missing, "unknown": -1, "other": len(self.categories) if self.gathers_other else -1}


Rule = NumberRule | CategoryRule


def _each_distinct(series: pd.Series, read: Callable[[Any], float]) -> np.ndarray:
    """`read` of every value, called once for values that are equal."""
    try:
        codes, values = pd.factorize(series.astype("object"))
    except TypeError:  # lists and the like have no hash
        return np.array([read(value) for value in series], np.float64)
    return np.array([*map(read, values), read(None)], np.float64)[codes]


def _absent(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _number(value: Any) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, numbers.Real | np.bool_):
        try:
            return float(value)
        except OverflowError:  # a whole number of Python's that no float can hold
            return math.nan
    if value is None:
        return math.nan
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return float(pd.Timedelta(value).total_seconds())
    return float(numbers_in([value])[0]) if pd.api.types.is_scalar(value) else math.nan


def _spellings(value: Any, text: str) -> Iterator[str]:
    """How a category may be written: as it stands, as a number (3 for 3.0), true or True."""
    yield text
    number = _number(value) if text else math.nan
    if math.isfinite(number):
        yield number_text(number)
    if text.lower() in ("true", "false"):
        yield from (text.capitalize(), text.lower(), text.upper())
