"""Verdicts as the page shows them: for every metric one over all problems, and one for each problem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from showdown.analysis.facts import Facts
from showdown.analysis.judge import judge
from showdown.analysis.verdict import Verdict
from showdown.metrics.metric import Metric
from showdown.report.page.compact import number


def verdicts_of(frame: pd.DataFrame, facts: Facts, metrics: Iterable[Metric]) -> dict[str, Any]:
    """metric → {overall, problems: {problem → verdict}}, of metrics that have intervals; see `Verdict`."""
    problems = list(dict.fromkeys(frame["problem"]))
    return {
        metric.name: {
            "overall": _compact(judge(frame, facts, metric.name)),
            "problems": {name: _compact(judge(frame, facts, metric.name, problems=[name])) for name in problems},
        }
        for metric in metrics
        if not metric.cell
    }


def _compact(verdict: Verdict) -> dict[str, Any]:
    """As JSON with few digits, without what the page says once for all verdicts."""
    left_out = ("coverage", "title", "smaller_is_better") if len(verdict.problems) == 1 else ()
    return {name: _short(value) for name, value in verdict.to_json().items() if name not in left_out}


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_short(item) for item in value]
    return number(value, 5) if isinstance(value, float) else value
