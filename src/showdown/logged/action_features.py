"""Features of the actions of a log: of each item in a table of its own, and of each action in the row of a decision.

`items` is a table with a row per action: the action's name in the column called as in the log (or else the first), the
rest features. Actions that it names and that were never taken are actions too. Columns of the log such as
`affinity_0 … affinity_79` hold one number for each action (`showdown.data.action_features`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.action_features import Stems, features_of
from showdown.data.column_values import categories
from showdown.data.encode_column import encode
from showdown.data.in_memory import as_frame
from showdown.data.read_table import read_table


def read_items(items: Any, action: str, logged: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """The features of each action, (num_actions, dims) float32, and the names of all, those that were taken first."""
    frame = read_table(items).table if isinstance(items, str | os.PathLike) else as_frame(items)
    key = action if action in frame.columns else str(frame.columns[0])
    codes, texts = categories(frame[key])
    named = [texts[code] if code >= 0 else "" for code in codes]
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise UsageError(f"the items need a row for each, and the column {key!r} has {twice!r} more than once")
    lacking = [name for name in logged if name not in named]
    if lacking:
        raise UsageError(f"the items have no row for {lacking[0]!r}, which the log has taken (by the column {key!r})")
    names = [*logged, *(name for name in named if name not in set(logged))]
    ordered = frame.iloc[[named.index(name) for name in names]].reset_index(drop=True)
    blocks = [encode(ordered[column]).values for column in ordered.columns if column != key]
    used = [block for block in blocks if block is not None]
    if not used:
        raise UsageError("the items have no column that tells them apart, but for their names")
    return _standardised(np.concatenate(used, axis=1)), names


def offered_features(frame: pd.DataFrame, stems: Stems, names: Sequence[str]) -> np.ndarray:
    """The features of each action in every row, (rows, num_actions, dims) float32."""
    return _standardised(features_of(frame, stems, names, set()).values)


def _standardised(values: np.ndarray) -> np.ndarray:
    flat = values.reshape(-1, values.shape[-1])
    deviation = flat.std(axis=0, dtype=np.float64)
    scaled = (values - flat.mean(axis=0, dtype=np.float64)) / np.where(deviation > 0, deviation, 1.0)
    return scaled.astype(np.float32)
