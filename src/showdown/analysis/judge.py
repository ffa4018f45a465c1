"""Find the verdict about stored cells, with what makes it doubtful.

Tables, the page, the last lines of `run`, and `recommend` all ask `judge`, so they cannot disagree. On one problem,
methods are compared trial by trial (`compare_trials.py`), over several by the mean over these (`compare_problems.py`),
and for what holds beyond them by mean ranks (`compare_ranks.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from showdown.analysis.notes import Caution
from showdown.analysis.play_details import DetailsByCell
from showdown.analysis.ranks import REFERENCES, Coverage, coverage
from showdown.analysis.summary import cells_with_metric
from showdown.analysis.validity import about_play, catching_up, few_trials, no_times, unequal_coverage
from showdown.analysis.verdict import Verdict
from showdown.analysis.verdict_parts import by_ranks, common_unit, here, new_problem, ranked
from showdown.analysis.worst_case import worst_case
from showdown.metrics import MAIN, metric_named
from showdown.metrics.metric import Metric


def judge(
    frame: pd.DataFrame,
    details: DetailsByCell,
    metric: str = MAIN,
    *,
    expected: bool = False,
    problems: Sequence[str] | None = None,
    decide_seconds: Mapping[str, float] | None = None,
) -> Verdict:
    """The verdict, with warnings, about cells that `selection.select` chose, over `problems` or all of the frame.

    The cheapest is the fastest to play or, where `decide_seconds` has it by policy, the fastest to decide.
    """
    rows = frame if problems is None else frame[frame["problem"].isin(problems)]
    cells = rows.drop_duplicates(["policy", "problem"])
    seconds = {
        (str(policy), str(problem)): details[cell].step_seconds
        for policy, problem, cell in zip(cells["policy"], cells["problem"], cells["cell"], strict=True)
        if cell in details
    }
    refused = no_times(rows, details)
    if decide_seconds is not None:
        seconds, refused = {key: decide_seconds.get(key[0], math.nan) for key in seconds}, ""
    found = verdict(rows, metric, expected=expected, seconds=seconds, no_times=refused)
    asked = metric_named(metric)
    held = rows if asked.cell else cells_with_metric(rows, asked, expected).frame
    of_cells = held.drop_duplicates(["policy", "problem"])  # whose trials are not looked at any more
    return replace(found, warnings=tuple(map(str, _cautions(of_cells, details, found))))


def _cautions(rows: pd.DataFrame, details: DetailsByCell, found: Verdict) -> list[Caution]:
    """What makes the verdict doubtful: cautions about the cells that it rests on, the most serious first."""
    meant = rows[rows["problem"].isin(found.problems) & ~rows["policy"].isin(found.left_out)]
    leading = meant if found.best is None else meant[meant["policy"].isin(found.ties)]
    # few trials are enough for a policy that they put clearly behind, and coverage is about all policies
    doubts = about_play(meant, details)
    doubts += [caution for caution in (few_trials(leading), *unequal_coverage(rows)) if caution.items]
    if found.best is not None and len(found.problems) == 1:
        crossing = catching_up(meant, details, found.best, [rival.policy for rival in found.rivals])
        doubts = [*([crossing] if crossing.items else []), *doubts]
    return doubts


def verdict(
    frame: pd.DataFrame,
    metric: str = MAIN,
    *,
    expected: bool = False,
    problems: Sequence[str] | None = None,
    seconds: Mapping[tuple[str, str], float] | None = None,
    no_times: str = "",
    warnings: Sequence[str] = (),
) -> Verdict:
    """The verdict, without warnings, about a frame with one cell per (policy, problem), as `selection.select` gives it.

    `seconds` is the time of one step by (policy, problem), for naming the cheapest; `no_times` says why times must not
    be compared, where they must not. `judge` finds both, and the warnings.
    """
    asked = metric_named(metric)
    rows = frame if problems is None else frame[frame["problem"].isin(problems)]
    rows = rows if asked.cell else cells_with_metric(rows, asked, expected).frame
    found = coverage(rows)
    rows = rows[rows["problem"].isin(found.problems) & rows["policy"].isin(found.policies)]
    counts = rows.groupby(["policy", "problem"])["trial"].size()
    about: dict[str, Any] = {
        "metric": asked.column(expected) if not asked.cell else asked.name,
        "title": asked.title,
        "smaller_is_better": asked.smaller_is_better,
        "unit": asked.unit,
        "problems": tuple(found.problems),
        "coverage": found.played,
        "all_problems": found.total,
        "left_out": tuple(found.left_out),
        "trials": (int(counts.min()), int(counts.max())) if len(counts) else (0, 0),
        "warnings": tuple(warnings),
    }
    reason = _no_verdict(rows, found, asked)
    if reason:
        return Verdict(**about, reason=reason)
    column = asked.column(expected)
    about |= _one_problem(rows, asked, column) if len(found.problems) == 1 else _several(rows, asked, column)
    if about["best"] is None:
        return Verdict(**about)
    judged = Verdict(**about, worst_case=worst_case(rows, about["best"]))
    cheapest, why = _cheapest(judged, seconds, no_times)
    return replace(judged, cheapest=cheapest, cheapest_reason=why)


def _no_verdict(rows: pd.DataFrame, found: Coverage, metric: Metric) -> str:
    """Why there can be no verdict; empty where there can."""
    if metric.cell:
        return "a cell has one time and no interval"
    if not found.total:
        return f"no cell holds the {metric.title}"
    if not found.problems:
        return "no problem was played by all of the methods"
    if not set(found.policies) - REFERENCES:
        return "no method was played besides Uniform"
    return ""


def _one_problem(rows: pd.DataFrame, metric: Metric, column: str) -> dict[str, Any]:
    """The fields of a verdict about one problem."""
    scales, unit = common_unit(rows, metric, column)
    assert scales is not None  # one problem has one unit
    return here(rows, metric, column, scales, unit)


def _several(rows: pd.DataFrame, metric: Metric, column: str) -> dict[str, Any]:
    """The fields of a verdict over several problems."""
    methods = rows[~rows["policy"].isin(REFERENCES)]
    if methods["policy"].nunique() < 2:
        return {"best": None, "reason": "only one method was played on all of these problems"}
    if methods.groupby(["policy", "problem"])["trial"].size().min() < 2:
        return {"best": None, "reason": "a single trial gives no interval"}
    scales, unit = common_unit(rows, metric, column)
    ranks = ranked(rows, metric, column, scales)
    about = by_ranks(ranks) if scales is None else here(rows, metric, column, scales, unit)
    if about["best"] is None:
        return about
    worse = [rival.policy for rival in about["rivals"] if not rival.is_tied] if about["best"] == ranks.best else []
    return {**about, "new_problem": new_problem(ranks, rows["problem"].nunique(), frozenset(worse))}


def _cheapest(found: Verdict, seconds: Mapping[tuple[str, str], float] | None, no_times: str) -> tuple[str | None, str]:
    """The fastest of the best methods that fails nowhere, and its time per step; or None and why."""
    if no_times or not seconds:
        return None, no_times or "no times are known"
    names, problems = [name for name in found.ties if not found.fails(name)], found.problems
    if not names:
        return None, "each of them is above Uniform or has stuck trials on a problem"
    total = {name: sum(seconds.get((name, problem), math.nan) for problem in problems) for name in names}
    if any(math.isnan(value) for value in total.values()):
        return None, "no times are known of some of them"
    cheapest = min(names, key=lambda name: total[name])
    each = total[cheapest] / len(problems)
    return cheapest, f"{_duration(each)} per step"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.2g} µs"
