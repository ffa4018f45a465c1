"""Ranks: 1 is the best mean on a problem; the mean rank is by default over the ten problems of the paper's.

Ties share the average of their ranks. A policy without a cell on a problem is skipped there: it neither has a rank on
it nor moves the others', so its mean is over fewer problems.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from showdown.analysis.published import RANKED_PROBLEMS
from showdown.analysis.summary import metric_of


def ranks(summary: pd.DataFrame) -> pd.DataFrame:
    """policy, problem, rank: from rows with columns policy, problem, mean, and metric if it is not a regret."""
    upwards = metric_of(summary).smaller_is_better
    rank = summary.groupby("problem", sort=False)["mean"].rank(method="average", ascending=upwards)
    return summary[["policy", "problem"]].assign(rank=rank).dropna(subset="rank").reset_index(drop=True)


def mean_ranks(summary: pd.DataFrame, problems: Sequence[str] = RANKED_PROBLEMS) -> pd.DataFrame:
    """policy, mean_rank, problems (how many it was taken over), for policies with a cell on at least one of them."""
    each = ranks(summary[summary["problem"].isin(problems)])
    groups = each.groupby("policy", sort=False)["rank"]
    return groups.agg(mean_rank="mean", problems="size").reset_index()
