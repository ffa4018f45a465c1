"""Tidy rows as comma-separated values, with the same fields as in JSON; a reference comes last, as rows of its own."""

from __future__ import annotations

import pandas as pd

from showdown.analysis.table import Table
from showdown.report.grid import records, reference_records

NOTES_APART = True


def write(table: Table, width: int | None = None) -> str:
    return pd.DataFrame([*records(table), *reference_records(table)], dtype=object).to_csv(index=False)
