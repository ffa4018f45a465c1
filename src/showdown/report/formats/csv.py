"""Tidy rows as comma-separated values, with the same fields as in JSON; a reference comes last, as rows of its own."""

from __future__ import annotations

from typing import Any

import pandas as pd

from showdown.analysis.table import Table
from showdown.basics.text import one_line
from showdown.report.grid import records, reference_records

NOTES_APART = True
_FORMULA = tuple("=+-@\t\r＝＋－＠")  # what a spreadsheet takes for the beginning of a formula; the wide forms too


def write(table: Table, width: int | None = None) -> str:
    rows = [
        {name: harmless(value) for name, value in row.items()} for row in [*records(table), *reference_records(table)]
    ]
    return pd.DataFrame(rows, dtype=object).to_csv(index=False)


def harmless(value: Any) -> Any:
    """The value, with an apostrophe before text that a spreadsheet would compute, so that it stays text there."""
    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(_FORMULA) else "") + one_line(value)
