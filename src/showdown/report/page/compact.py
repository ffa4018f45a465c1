"""What the page is sent, made small: four significant digits, curves of sixty points, at most 200 trials.

Also its rank tests and its verdicts: for every metric one over all problems, and one for each problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from showdown.analysis.aggregates import aggregates
from showdown.analysis.compare import friedman
from showdown.analysis.judge import judge
from showdown.analysis.overview import overview
from showdown.analysis.play_details import DetailsByCell
from showdown.analysis.ranks import REFERENCES, comparable, mean_ranks
from showdown.analysis.summary import mean_curve, thin
from showdown.analysis.verdict import Verdict
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN
from showdown.metrics.metric import Metric
from showdown.report.aggregates import plain

DIGITS = 4
TRIAL_DIGITS = 6  # two policies are compared trial by trial, and a small difference of large numbers needs them
POINTS = 60
MOST_TRIALS = 200
MOST_ACTIONS = 32


def number(value: Any, digits: int = DIGITS) -> float | int | None:
    """The number rounded to significant digits; None where there is no finite number."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def numbers(values: Iterable[float], digits: int = DIGITS) -> list[float | int | None]:
    return [number(value, digits) for value in values]


def curve(checkpoints: list[int], trials: list[Any]) -> dict[str, Any]:
    """A cell's regret curve: steps, mean and sem, which is None for a single trial."""
    thinned = thin(mean_curve(np.asarray(checkpoints), np.stack(trials)), POINTS)
    sem = None if len(trials) == 1 else numbers(thinned.sem)
    return {"steps": thinned.steps.tolist(), "mean": numbers(thinned.mean), "sem": sem}


def distribution(trials: np.ndarray) -> list[float | int | None]:
    """One value per trial in order of trials; evenly spaced quantiles where there are too many of them."""
    if len(trials) <= MOST_TRIALS:
        return numbers(trials, TRIAL_DIGITS)
    return numbers(np.quantile(trials, np.linspace(0, 1, MOST_TRIALS)))


def action_shares(counts: list[Any]) -> list[float | int | None]:
    """How often each action was played, in %; nothing where there are too many to draw."""
    total = np.sum(np.stack(counts), axis=0)
    return numbers(100 * total / max(1, total.sum())) if len(total) <= MOST_ACTIONS else []


def timeline(bins: dict[str, Any]) -> dict[str, list[float | int | None]]:
    """The share of decisions per belief, one number per doubling of steps."""
    return {name: numbers(values) for name, values in bins.items()}


def rank_test(summary: pd.DataFrame) -> dict[str, Any]:
    """Friedman's test with Nemenyi's critical difference; or, under `reason`, why there is none.

    Over the policies and problems of the verdict and the mean ranks, so that they cannot disagree. No group is told
    apart where Friedman's test does not reject: Nemenyi's test is for what follows when it does.
    """
    complete = comparable(summary, list(summary["problem"].drop_duplicates()))
    try:
        test = friedman(complete)
    except UsageError as error:
        return {"reason": str(error)}
    wide = complete.pivot(index="problem", columns="policy", values="mean").dropna()
    used = complete[complete["problem"].isin(wide.index)]
    ranks = mean_ranks(used, list(wide.index)).sort_values("mean_rank", kind="stable")
    rejects = test["p_value"] < test["alpha"]
    groups = cliques(list(ranks["mean_rank"]), test["critical_difference"]) if rejects else []
    return {
        "order": [{"policy": row.policy, "rank": number(row.mean_rank)} for row in ranks.itertuples()],
        "groups": groups,
        "rejects": rejects,
        "critical_difference": number(test["critical_difference"]),
        "p_value": number(test["p_value"], 2),
        "problems": list(wide.index),
        "left_out": sorted(set(summary["policy"]) - set(used["policy"]) - REFERENCES),
    }


def cliques(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Maximal runs (first, last) of two or more sorted mean ranks that lie within the critical difference."""
    runs: list[tuple[int, int]] = []
    for first, lowest in enumerate(ranks):
        last = max(index for index, rank in enumerate(ranks) if rank - lowest <= difference)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def overviews_of(frame: pd.DataFrame, metrics: Iterable[Metric]) -> dict[str, Any]:
    """The overviews by metric, for metrics that have one: means and probabilities as [mean, low, high]."""
    found = {metric.name: overview(frame, metric.name) for metric in metrics}
    return {
        name: {
            "unit": each.unit,
            "problems": each.problems,
            "levels": numbers(each.levels),
            "methods": [
                {
                    "policy": method.policy,
                    "aggregate": numbers(method.aggregate),
                    "improvement": None if method.improvement is None else numbers(method.improvement),
                    "profile": numbers(method.profile, 3),
                }
                for method in each.methods
            ],
        }
        for name, each in found.items()
        if each is not None
    }


def aggregates_of(frame: pd.DataFrame) -> dict[str, Any]:
    """The aggregates of the main metric, by its name; a number is [value, ends over trials, ends over problems]."""
    try:
        return {MAIN: _rounded(plain(aggregates(frame)))}
    except UsageError:  # single trials, or nothing that has a ratio
        return {}


def _rounded(value: Any) -> Any:
    """Plain values with four digits; a number with its intervals as a list."""
    if isinstance(value, dict):
        own = value.values() if {"value", "trials"} <= value.keys() else None
        return {name: _rounded(part) for name, part in value.items()} if own is None else [_rounded(one) for one in own]
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return number(value) if isinstance(value, float) else value


def verdicts_of(frame: pd.DataFrame, details: DetailsByCell, metrics: Iterable[Metric]) -> dict[str, Any]:
    """The verdicts by metric, {overall, problems: {problem: verdict}} each, for metrics that have intervals."""
    by_problem = {str(name): rows for name, rows in frame.groupby("problem", sort=False)}
    return {
        metric.name: {
            "overall": _compact(judge(frame, details, metric.name)),
            "problems": {name: _compact(judge(rows, details, metric.name)) for name, rows in by_problem.items()},
        }
        for metric in metrics
        if not metric.cell
    }


def _compact(verdict: Verdict) -> dict[str, Any]:
    """What the page shows of a verdict; the numbers behind it are in the table, and in `showdown table --json`."""
    parts = ("lines", "best", "tied", "sure", "warnings", "left_out")
    ranks = verdict.new_problem
    ties = list(ranks.ties) if ranks is not None else []
    crowned = verdict.beats_references  # nothing is marked as the best that is no better than chance
    return {
        "sentence": verdict.sentence,
        "ranked_best": ties,
        "crowned": crowned,
        **{name: getattr(verdict, name) for name in parts},
    }
