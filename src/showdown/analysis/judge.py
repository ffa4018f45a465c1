"""Find the verdict about stored cells, with what makes it doubtful.

Tables, the page, the last lines of `run`, and `recommend` all ask `judge`, so they cannot disagree. On one problem,
methods are compared trial by trial (`compare_trials.py`), over several by mean ranks (`compare_ranks.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from showdown.analysis.compare_ranks import compare_mean_ranks, problems_needed
from showdown.analysis.compare_trials import compare_with_best, difference, interval, values_of
from showdown.analysis.notes import Caution, FewProblems
from showdown.analysis.play_details import DetailsByCell
from showdown.analysis.ranks import REFERENCES, Coverage, coverage
from showdown.analysis.summary import BASELINE, cells_with_metric
from showdown.analysis.validity import about_play, catching_up, few_trials, no_times, unequal_coverage
from showdown.analysis.verdict import RANK_UNIT, Rival, Verdict
from showdown.metrics import COMMONEST, MAIN, metric_named
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
    methods, needed = len(found.rivals) + 1, problems_needed(max(2, len(found.rivals) + 1))
    if found.best is not None and 1 < len(found.problems) < needed:
        doubts = [FewProblems(((len(found.problems), methods, needed),)), *doubts]
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
    cheapest, why = _cheapest((about["best"], *about["tied"]), found.problems, seconds, no_times)
    return Verdict(**about, cheapest=cheapest, cheapest_reason=why)


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
    values = values_of(rows, column)
    methods = values[[name for name in values if name not in REFERENCES]]
    worse = 1 if metric.smaller_is_better else -1
    scale, unit = _scale(values, metric)
    best, others = compare_with_best(methods, metric.smaller_is_better)
    low, high = interval(values[best], metric.is_share)
    if math.isnan(low) or any(math.isnan(found.low) for found in others.values()):
        return {"best": None, "reason": "a single trial gives no interval", "unit": metric.unit}
    against = {name: values[name] for name in values if name in REFERENCES}
    if metric.fixed_column in rows and column == metric.name:
        fixed = rows.drop_duplicates("trial").set_index("trial")[metric.fixed_column]
        against |= {COMMONEST: fixed} if fixed.notna().sum() > 1 else {}
    rivals = tuple(_rival(name, values[name], item, scale) for name, item in others.items())
    references = tuple(
        _rival(name, item, difference(item, values[best], worse=worse), scale) for name, item in against.items()
    )
    p_value = nearest_p(rivals)
    tied = tuple(rival.policy for rival in rivals if not rival.behind)
    return {
        "best": best,
        "value": scale * float(values[best].mean()),
        "low": scale * low,
        "high": scale * high,
        "unit": unit,
        "rivals": rivals,
        "references": references,
        "tied": tied,
        "sure": how_sure(p_value, rivals),
        "p_value": p_value,
        "test": "paired t test over trials, Bonferroni",
    }


def _scale(values: pd.DataFrame, metric: Metric) -> tuple[float, str]:
    """What to multiply values by, and their unit after that: % of Uniform where it was played."""
    mean = float(values[BASELINE].mean()) if metric.baseline == BASELINE and BASELINE in values else 0.0
    return (100 / mean, f"% of {BASELINE}") if mean > 0 else (1.0, metric.unit)


def _rival(name: str, values: pd.Series, found: Any, scale: float) -> Rival:
    numbers = (scale * number for number in (float(values.mean()), found.mean, found.low, found.high))
    value, mean, low, high = (None if math.isnan(number) else number for number in numbers)
    p_value = None if math.isnan(found.p_value) else found.p_value
    return Rival(name, value or 0.0, mean or 0.0, low, high, p_value, found.told_apart and found.mean > 0)


def _several(rows: pd.DataFrame, metric: Metric, column: str) -> dict[str, Any]:
    """The fields of a verdict over several problems."""
    methods = rows[~rows["policy"].isin(REFERENCES)]
    if methods["policy"].nunique() < 2:
        return {"best": None, "reason": "only one method was played on all of these problems"}
    if methods.groupby(["policy", "problem"])["trial"].size().min() < 2:
        return {"best": None, "reason": "a single trial gives no interval"}
    found = compare_mean_ranks(methods, column, metric.smaller_is_better, _common_unit(rows, metric, column))
    rivals = tuple(
        Rival(name, found.ranks[name], item.mean, item.low, item.high, item.p_value, item.told_apart)
        for name, item in found.differences.items()
    )
    tied = tuple(rival.policy for rival in rivals if not rival.behind)
    return {
        "best": found.best,
        "value": found.rank,
        "low": found.low,
        "high": found.high,
        "unit": RANK_UNIT,
        "rivals": rivals,
        "tied": tied,
        "sure": how_sure(found.p_value, rivals),
        "p_value": found.p_value,
        "test": found.test,
    }


def _common_unit(rows: pd.DataFrame, metric: Metric, column: str) -> dict[str, float] | None:
    """What brings the values of each problem to a common unit; None where nothing does."""
    problems = [str(name) for name in rows["problem"].unique()]
    if metric.is_share:
        return dict.fromkeys(problems, 1.0)
    uniform = rows[rows["policy"] == BASELINE].groupby("problem")[column].mean()
    if metric.baseline != BASELINE or len(uniform) < len(problems) or not (uniform > 0).all():
        return None
    return {str(name): 100 / mean for name, mean in uniform.items()}


def nearest_p(rivals: Sequence[Rival]) -> float | None:
    """The p-value that the nearest rival is as good as the best; None without rivals, or with too few trials of one."""
    known = [rival.p_value for rival in rivals if rival.p_value is not None]
    return max(known, default=None) if len(known) == len(rivals) else None


def how_sure(p_value: float | None, rivals: Sequence[Rival]) -> str:
    """In words, how sure it is that the best is the best: `Verdict.sure`."""
    if not rivals:
        return "alone"
    if not all(rival.behind for rival in rivals):
        return "a tie"
    if p_value is None:
        return "too few trials"
    return "sure" if p_value >= 0.001 else "very sure"


def _cheapest(
    names: tuple[str, ...], problems: Sequence[str], seconds: Mapping[tuple[str, str], float] | None, no_times: str
) -> tuple[str | None, str]:
    """The fastest of some policies over the problems, and its time per step; or None and why."""
    if no_times or not seconds:
        return None, no_times or "no times are known"
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
