"""What the encoders of rows and of actions share: checks of what a caller gives, and rules as plain data."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.column_rules import CategoryRule, NumberRule, Rule

_RULES: dict[str, type[NumberRule] | type[CategoryRule]] = {"number": NumberRule, "category": CategoryRule}
_CONTAINERS = (list, dict, set, np.ndarray, pd.Series, pd.DataFrame)  # none is one cell of a table; a tuple may be


def check_columns(what: str, wanted: Sequence[str], present: Collection[Any], known: Collection[str]) -> list[str]:
    """The names that are new, beside those wanted and known; raises UsageError where one that is wanted is missing."""
    lacking = [name for name in wanted if name not in present]
    new = [str(name) for name in present if name not in known]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        near = difflib.get_close_matches(lacking[0], new, n=1)
        hint = f"; is it {near[0]!r}?" if near else "; give None where a value is not known"
        raise UsageError(f"{what} has no column {lacking[0]!r}{more}{hint}")
    return new


def check_cell(column: str, value: Any) -> None:
    """Raise UsageError for a list or the like in a row: a mistake of the caller's program, not a missing value."""
    if isinstance(value, _CONTAINERS):
        kind = "an object" if isinstance(value, Mapping) else "a list"
        raise UsageError(f"the row holds {kind} in the column {column!r}; give a number, text, a date or None")


def scaling(values: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each column, (rows, columns); a deviation of 0 becomes 1."""
    shift = values.mean(axis=0, dtype=np.float64).astype(np.float32)
    scale = np.sqrt(np.square(values - shift, dtype=np.float64).mean(axis=0)).astype(np.float32)
    return tuple(shift.tolist()), tuple(np.where(scale > 0, scale, 1).tolist())


def standardised(numbers: np.ndarray, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Numbers as a policy sees them; NaN, which says nothing, becomes the table's mean: 0."""
    return np.nan_to_num((numbers - shift) / scale, nan=0.0)


def rule_to_json(rule: Rule) -> dict[str, Any]:
    kinds = {rule: kind for kind, rule in _RULES.items()}
    return {"kind": kinds[type(rule)], **asdict(rule)}


def rule_from_json(data: Mapping[str, Any]) -> Rule:
    fields: dict[str, Any] = {
        name: tuple(item) if isinstance(item, list) else item for name, item in data.items() if name != "kind"
    }
    return _RULES[data["kind"]](**fields)
