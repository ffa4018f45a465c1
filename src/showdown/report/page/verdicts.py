"""Verdicts as the page shows them: for every metric one over all problems, and one for each problem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from showdown.analysis.facts import Facts
from showdown.analysis.judge import judge
from showdown.analysis.verdict import Verdict
from showdown.metrics.metric import Metric


def verdicts_of(frame: pd.DataFrame, facts: Facts, metrics: Iterable[Metric]) -> dict[str, Any]:
    """metric → {overall, problems: {problem → verdict}}, of metrics that have intervals."""
    by_problem = {str(name): rows for name, rows in frame.groupby("problem", sort=False)}
    return {
        metric.name: {
            "overall": _compact(judge(frame, facts, metric.name)),
            "problems": {name: _compact(judge(rows, facts, metric.name)) for name, rows in by_problem.items()},
        }
        for metric in metrics
        if not metric.cell
    }


def _compact(verdict: Verdict) -> dict[str, Any]:
    """What the page shows of a verdict; the numbers behind it are in the table, and in `showdown table --json`."""
    parts = ("best", "tied", "sure", "warnings", "left_out")
    return {"sentence": verdict.sentence, **{name: getattr(verdict, name) for name in parts}}
