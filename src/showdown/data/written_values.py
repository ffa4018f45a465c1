"""Text that people write and that stands for a number: `$1,234.00`, `12.3%`, `31/01/2024`, `14:05`.

A *writing* says how the texts of a column are to be read. It is found once, from all values of a column (`writing_of`),
and kept with the column's rule, so that later rows are read in the same way (`read_number`, `read_date`). A column has
a writing only where every value that is not missing fits it, and where plain reading would not do.

Writings of numbers are an example of the style, with the unit where there is one: `1,234.5`, `1,234.5 %`, `1.234,5 €`.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

import pandas as pd

from showdown.data.formats import MISSING

DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day/month/year", "month/day/year", "year/month/day"
UNCLEAR_DAY_FIRST = "day/month/year (unclear)"  # no day above 12 decides it
TIME = "hour:minute"
DATES = (DAY_FIRST, MONTH_FIRST, YEAR_FIRST, UNCLEAR_DAY_FIRST)

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2}(\.\d+)?))?(\s*(?P<half>[ap])\.?m\.?)?"
_TIME = re.compile(_CLOCK, re.IGNORECASE)
_DATE = re.compile(rf"(?P<a>\d{{1,4}})(?P<mark>[/.-])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{1,4}})([T ]+{_CLOCK})?", re.I)
_UNITS = "$€£¥₹%"


def _number_pattern(group: str, point: str) -> re.Pattern[str]:
    digits = (
        rf"(?P<whole>[1-9]\d{{0,2}}(?P<grouped>{re.escape(group)}\d{{3}})+|\d+)?(?:{re.escape(point)}(?P<part>\d+))?"
    )
    return re.compile(
        rf"(?P<bracket>\()?(?P<sign>[-+−]?)\s*(?P<before>[$€£¥₹]?)\s*(?P<sign2>[-+−]?){digits}"
        rf"\s*(?P<after>[{_UNITS}]?)(?(bracket)\))"
    )


_STYLES = {"1,234.5": _number_pattern(",", "."), "1.234,5": _number_pattern(".", ",")}


def writing_of(series: pd.Series) -> str:
    """How the values of a column of text are written, or nothing where they are not all written so."""
    if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(series):
        return ""
    if pd.api.types.infer_dtype(series, skipna=True) not in ("string", "mixed", "mixed-integer", "time"):
        return ""
    try:
        values = {str(value).strip() for value in series.dropna().unique()}
    except TypeError:  # lists and the like have no hash
        return ""
    texts = list(values - MISSING)
    if not texts or all(map(_is_plain, texts)):
        return ""
    if all(_clock_of(_TIME.fullmatch(text)) is not None for text in texts):
        return TIME
    return _writing_of_dates(texts) or _writing_of_numbers(texts)


def read_number(value: Any, writing: str) -> float:
    """A number written so, or plainly; NaN for anything else. A time is the hours since midnight."""
    if isinstance(value, datetime.time):
        value = value.isoformat()
    text = str(value).strip()
    if writing == TIME:
        hours = _clock_of(_TIME.fullmatch(text))
        return _plain(text) if hours is None else hours
    style, _, unit = writing.partition(" ")
    found = _matched(text, _STYLES[style])
    if found is None or _unit(found) not in ("", unit):
        return _plain(text)
    whole, part = re.sub(r"\D", "", found["whole"] or ""), found["part"] or ""
    negative = found["bracket"] or "".join((found["sign"], found["sign2"])).strip("+")
    number = float(f"{whole or 0}.{part or 0}")
    return -number if negative else number


def read_date(value: Any, writing: str) -> pd.Timestamp | None:
    """A date written so, in UTC, or None."""
    found = _DATE.fullmatch(str(value).strip())
    return None if found is None else _date_of(found, writing)


def example(writing: str) -> str:
    """What a column was taken for, in words, where that is not clear from the name of its kind."""
    if writing == UNCLEAR_DAY_FIRST:
        return "day first: 03/04/2020 is 3 April (no value shows which comes first)"
    if writing == TIME:
        return "hours since midnight"
    if writing in DATES:
        return f"written {writing}"
    style, _, unit = writing.partition(" ")
    return "percentages: 12.3% is 12.3" if unit == "%" else f"written as {unit}{style}"


def _writing_of_numbers(texts: list[str]) -> str:
    for style, pattern in _STYLES.items():
        if not all(_matched(text, pattern) for text in texts):
            continue
        found = [match for text in texts if (match := _matched(text, pattern))]
        units = {_unit(match) for match in found}
        # a bare number may stand among amounts of money, and not among percentages: 0.5 and 50% would be one value
        one_unit = len(units) == 1 or (len(units - {""}) == 1 and "%" not in units)
        # without a unit or thousands `3,4` may be a list, and `(3)` a footnote
        if one_unit and any(_unit(match) or match["grouped"] for match in found):
            return f"{style} {max(units)}".strip()
    return ""


def _matched(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    found = pattern.fullmatch(text)
    if found is None or not (found["whole"] or found["part"]):
        return None
    return None if found["before"] and found["after"] else found


def _unit(found: re.Match[str]) -> str:
    return found["before"] or found["after"]


def _writing_of_dates(texts: list[str]) -> str:
    if not all(map(_DATE.fullmatch, texts)):
        return ""
    known = [match for text in texts if (match := _DATE.fullmatch(text))]
    if len({match["mark"] for match in known}) > 1:
        return ""
    if all(len(match["a"]) == 4 for match in known):
        order = YEAR_FIRST
    elif any(int(match["a"]) > 12 for match in known):
        order = DAY_FIRST
    elif any(int(match["b"]) > 12 for match in known):
        order = MONTH_FIRST
    else:
        order = UNCLEAR_DAY_FIRST
    return order if all(_date_of(match, order) is not None for match in known) else ""


def _date_of(found: re.Match[str], order: str) -> pd.Timestamp | None:
    a, b, c = found["a"], found["b"], found["c"]
    year, month, day = {YEAR_FIRST: (a, b, c), MONTH_FIRST: (c, a, b)}.get(order, (c, b, a))
    hours = _clock_of(found) if found["hour"] else 0.0
    if len(year) != 4 or len(month) > 2 or len(day) > 2 or hours is None:
        return None
    try:
        midnight = pd.Timestamp(datetime.datetime(int(year), int(month), int(day), tzinfo=datetime.UTC))
    except ValueError:  # no such day
        return None
    return midnight + pd.Timedelta(seconds=round(hours * 3600, 6))


def _clock_of(found: re.Match[str] | None) -> float | None:
    """Hours since midnight."""
    if found is None:
        return None
    hour, minute, second = int(found["hour"]), int(found["minute"]), float(found["second"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
    return None if hour > 23 or minute > 59 or second >= 60 else hour + minute / 60 + second / 3600


def _is_plain(text: str) -> bool:
    return math.isfinite(_plain(text))


def _plain(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
