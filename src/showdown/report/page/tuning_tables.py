"""The record of a tuning of which only the table of candidates (NAME.csv) and the preset (NAME.toml) were kept.

Ranges are not in those files: a field's range is what was tried of it. Nor are importances, which would take minutes to
compute again, and the comparison on fresh episodes.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from showdown.config import Range
from showdown.policies import policies
from showdown.tuning.space import Candidate, Dimension, Space

_WIDE = 30.0  # the largest value over the smallest, from which on a field was searched on a logarithmic scale


def read_table(path: Path) -> dict[str, Any]:
    """The record of a tuning, from its table and the preset beside it."""
    table = pd.read_csv(path)
    text = path.with_suffix(".toml").read_text(encoding="utf-8")
    preset, described = next(iter(tomllib.loads(text)["policy"].items()))
    columns = list(table)
    names = columns[columns.index("part") + 1 : columns.index("value")]
    measured = [name.partition(" on ") for name in columns[columns.index("value") + 1 :] if " on " in name]
    dimensions = [_dimension(name, table[name]) for name in names]
    candidates: list[Candidate] = table[names].to_dict("records")
    values = table["value"].to_numpy(float)
    chosen = described["fields"]
    space = Space(policies.get("Uniform"), described["base"], tuple(dimensions))  # of which only the ranges are used
    trials = re.search(r"(\d+) trials", text)
    return {
        "request": {
            "policy": described["base"],
            "problems": [problem for _, _, problem in measured],
            "objective": measured[0][0],
            "combine": "regret",
            "trials": int(trials[1]) if trials else 1,
            "sampler": "a sampler that these files do not name",
            "fields": {one.name: {**vars(one.search), "default": one.default} for one in dimensions},
        },
        "preset": preset,
        "batches": [candidates],
        "values": [float(value) if np.isfinite(value) else None for value in values],
        "parts": table["part"].tolist(),
        "importance": {},
        "result": {
            "candidate": {name: _plain(chosen[name]) for name in names},
            "is_default": all(chosen[one.name] == one.default for one in dimensions),
            "spelled": space.spelled(chosen),
            "problems": [],
        },
    }


def _dimension(name: str, tried: pd.Series) -> Dimension:
    """The field as it was searched, as far as its values tell; the first candidate is the default."""
    default = tried.iloc[0]
    if not pd.api.types.is_numeric_dtype(tried) or pd.api.types.is_bool_dtype(tried):
        return Dimension(name, Range("choices", None, None, tuple(tried.unique())), default)
    low, high = float(tried.min()), float(tried.max())
    high = max(high, float(np.nextafter(low, np.inf)))
    wide = low > 0 and high / low > _WIDE
    return Dimension(name, Range("log" if wide else "linear", low, high), float(default))


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
