"""Ranks as the page draws them: per problem, their mean, and which policies a rank test cannot tell apart."""

from __future__ import annotations

from typing import Any

import pandas as pd

from showdown.analysis.compare import friedman
from showdown.analysis.coverage import REFERENCES
from showdown.analysis.ranks import comparable, mean_ranks
from showdown.basics.errors import UsageError
from showdown.report.page.compact import number


def rank_test(summary: pd.DataFrame) -> dict[str, Any]:
    """Friedman's test with Nemenyi's critical difference; or, under `reason`, why there is none.

    Over the policies and problems of the verdict and the mean ranks, so that they cannot disagree. Without Uniform,
    except where fewer than three policies would be left.
    """
    complete = comparable(summary, list(summary["problem"].drop_duplicates()))
    methods = complete[~complete["policy"].isin(REFERENCES)]
    if methods["policy"].nunique() >= 3:
        complete = methods
    try:
        test = friedman(complete)
    except UsageError as error:
        return {"reason": str(error)}
    wide = complete.pivot(index="problem", columns="policy", values="mean").dropna()
    used = complete[complete["problem"].isin(wide.index)]
    ranks = mean_ranks(used, list(wide.index)).sort_values("mean_rank", kind="stable")
    groups = cliques(list(ranks["mean_rank"]), test["critical_difference"])
    return {
        "order": [{"policy": row.policy, "rank": number(row.mean_rank)} for row in ranks.itertuples()],
        "groups": groups,
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
