"""Tidy rows in an object, with the count of agreement when they are compared with the paper."""

from __future__ import annotations

import json
from typing import Any

from showdown.analysis.table import Table
from showdown.report.grid import records, reference_records


def write(table: Table, width: int | None = None) -> str:
    return json.dumps(value(table), indent=2, ensure_ascii=False, allow_nan=False, default=_plain)


def value(table: Table) -> dict[str, Any]:
    content: dict[str, Any] = {"title": table.title, "rows": records(table)}
    if table.verdict is not None:
        content["verdict"] = table.verdict.to_json()
    if len(table.reference):
        content["reference"] = reference_records(table)
    if table.is_compared:
        content |= table.agreement
    return {**content, "notes": [str(note) for note in table.notes], "not_shown": table.not_shown}


def _plain(value: Any) -> Any:
    return value.item()  # a NumPy scalar
