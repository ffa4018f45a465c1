"""The summary of a table with the interval of each mean, as a DataFrame."""

from __future__ import annotations

import math

import pandas as pd

from showdown.analysis.compare_trials import interval
from showdown.analysis.ranks import RANK
from showdown.analysis.table import Table

COLUMNS = ["policy", "problem", "mean", "sem", "low", "high", "best", "trials", "horizon", "seed", "unit"]


def with_intervals(table: Table, frame: pd.DataFrame, expected: bool = False) -> pd.DataFrame:
    """The rows of a table, the best of each problem first, with 95 % intervals and marks of the best."""
    rows = table.rows[table.rows["problem"] != RANK]
    rows = rows.merge(_bounds(table, frame, expected), how="left", on=["policy", "problem"])
    scale = (rows["mean"] / rows["own"]).where(rows["own"] != 0, 1.0)  # to the unit of the table
    order = {name: number for number, name in enumerate(table.problems)}
    pairs = zip(rows["policy"], rows["problem"], strict=True)
    rows = rows.assign(
        low=rows["low"] * scale,
        high=rows["high"] * scale,
        best=[policy in table.best.get(problem, ()) for policy, problem in pairs],
        worse=rows["mean"] * (1 if table.metric.smaller_is_better else -1),
        place=rows["problem"].map(order),
    )
    return rows.sort_values(["place", "worse"], kind="stable")[COLUMNS].reset_index(drop=True)


def _bounds(table: Table, frame: pd.DataFrame, expected: bool) -> pd.DataFrame:
    """The mean of each policy on each problem in the metric's own unit, and its interval; a time has none."""
    pairs = frame.groupby(["policy", "problem"], sort=False)
    if table.metric.cell:
        return pd.DataFrame([(*pair, math.nan, math.nan, math.nan) for pair in pairs.groups], columns=_BOUNDS)
    column = table.metric.column(expected)
    found = [(*pair, rows[column].mean(), *interval(rows[column], table.metric.is_share)) for pair, rows in pairs]
    return pd.DataFrame(found, columns=_BOUNDS)


_BOUNDS = ["policy", "problem", "own", "low", "high"]
