"""Which columns of a table a person means, and which could be the label."""

from __future__ import annotations

import difflib
import fnmatch
import re

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.column_values import as_dates, as_numbers
from showdown.data.encode_column import looks_like_row_name
from showdown.data.written_values import writing_of

LIKELY_LABELS = ("class", "label", "target", "outcome", "category", "y")


def find_column(text: str, names: list[str]) -> str:
    """The column called `text`, or at that position (from 0; −1 is the last)."""
    if text in names:
        return text
    if re.fullmatch(r"-?\d+", text) and -len(names) <= int(text) < len(names):
        return names[int(text)]
    if text.startswith("#") and text.lstrip("# ") in names:  # of a header that is a comment line
        return text.lstrip("# ")
    near = difflib.get_close_matches(text, names, n=1)
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    raise UsageError(
        f"no column is called {text!r}; " + (f"did you mean {near[0]!r}?" if near else f"the columns are {shown}")
    )


def find_columns(text: str, names: list[str]) -> list[str]:
    """The columns that `a+b+c` names; `reward_*` means all that match. A name may itself contain a plus."""
    found: list[str] = []
    parts = text.split("+") if text else []
    while parts:
        for length in range(len(parts), 0, -1):
            part = "+".join(parts[:length]).strip()
            matches = [part] if part in names else fnmatch.filter(names, part) if "*" in part or "?" in part else []
            if matches or length == 1:
                found += matches or [find_column(part, names)]
                parts = parts[length:]
                break
    return list(dict.fromkeys(found))


def possible_labels(frame: pd.DataFrame) -> dict[str, int]:
    """Columns that could be a label, likeliest first, with their numbers of classes."""
    found: dict[str, int] = {}
    for name in frame.columns:
        series = frame[name]
        try:
            distinct = series.nunique()
        except TypeError:  # nested values
            continue
        if not 2 <= distinct <= min(100, len(series) / 2) or as_dates(series) is not None or writing_of(series):
            continue
        numbers = as_numbers(series)
        whole = numbers is None or (numbers == np.round(numbers))[np.isfinite(numbers)].all()
        if whole and not looks_like_row_name(series, numbers):
            found[str(name)] = distinct
    last = str(frame.columns[-1])

    def likelihood(name: str) -> tuple[bool, bool, bool]:
        return name.lower() in LIKELY_LABELS, name == last, as_numbers(frame[name]) is None

    return {name: found[name] for name in sorted(found, key=likelihood, reverse=True)}
