"""Which actions were available at each decision of a log."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.column_values import as_numbers


def available_actions(
    frame: pd.DataFrame, columns: list[str], logged: list[str]
) -> tuple[np.ndarray | None, list[str]]:
    """(rows, num_actions) bool and the names of all actions, those that were taken first; None where all always are."""
    if not columns:
        return None, logged
    if len(columns) == 1:
        return _from_lists(frame[columns[0]], logged)
    owners = [_owner(column, logged) for column in columns]
    if sorted(owners) != sorted(logged):
        lacking = next((name for name in logged if owners.count(name) != 1), "")
        raise UsageError(f"the available actions need a column for each action, and not so for {lacking!r}")
    by_action = {owner: _flags(frame[column]) for owner, column in zip(owners, columns, strict=True)}
    return np.stack([by_action[name] for name in logged], axis=1), logged


def _from_lists(series: pd.Series, logged: list[str]) -> tuple[np.ndarray, list[str]]:
    lists = [_listed(value) for value in series]
    names = [*logged, *sorted({name for row in lists for name in row} - set(logged))]
    place = {name: number for number, name in enumerate(names)}
    allowed = np.zeros((len(series), len(names)), bool)
    for row, each in enumerate(lists):
        allowed[row, [place[name] for name in each]] = True
    empty = np.flatnonzero(~allowed.any(axis=1))
    if empty.size:
        raise UsageError(f"the column {series.name!r} names no available action in row {empty[0] + 1}")
    return allowed, names


def _listed(value: Any) -> list[str]:
    if isinstance(value, list | tuple | set | np.ndarray):
        return [str(item).strip() for item in value]
    if value is None or value != value:
        return []
    parts = re.split(r"[|;,]" if re.search(r"[|;,]", str(value)) else r"\s+", str(value).strip("[](){} "))
    return [part.strip(" '\"") for part in parts if part.strip(" '\"")]


def _owner(column: str, actions: list[str]) -> str:
    """The action whose name a column ends with; the longest where several do."""
    return max((name for name in actions if column.endswith(name)), key=len, default="")


def _flags(series: pd.Series) -> np.ndarray:
    numbers = series.to_numpy(np.float64) if pd.api.types.is_bool_dtype(series) else as_numbers(series)
    if numbers is None or not np.isin(numbers, (0, 1)).all():
        raise UsageError(f"the column {series.name!r} of available actions must hold 0 or 1")
    return numbers == 1
