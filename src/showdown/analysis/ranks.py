"""Ranks: 1 is the best mean on a problem; the mean rank is by default over the ten problems of the paper's.

Ties share the average of their ranks. Mean ranks of policies that played different problems cannot be compared:
`comparable_ranks` is over those that played the same. `mean_ranks` skips missing cells, as beside the paper's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from showdown.analysis.coverage import coverage
from showdown.analysis.published import RANKED_PROBLEMS
from showdown.analysis.summary import metric_of


def ranks(summary: pd.DataFrame) -> pd.DataFrame:
    """policy, problem, rank: from rows with columns policy, problem, mean, and metric if it is not a regret."""
    upwards = metric_of(summary).smaller_is_better
    rank = summary.groupby("problem", sort=False)["mean"].rank(method="average", ascending=upwards)
    return summary[["policy", "problem"]].assign(rank=rank).dropna(subset="rank").reset_index(drop=True)


def comparable_ranks(summary: pd.DataFrame, problems: Sequence[str] = RANKED_PROBLEMS) -> pd.DataFrame:
    """`mean_ranks` of the policies that played the same problems (see `coverage.py`), among each other."""
    return mean_ranks(comparable(summary, problems), problems)


def comparable(summary: pd.DataFrame, problems: Sequence[str]) -> pd.DataFrame:
    """The rows that ranks can be taken over: of policies that all played the same problems."""
    cells = summary[summary["problem"].isin(problems)]
    found = coverage(cells)
    return cells[cells["policy"].isin(found.policies) & cells["problem"].isin(found.problems)]


def mean_ranks(summary: pd.DataFrame, problems: Sequence[str] = RANKED_PROBLEMS) -> pd.DataFrame:
    """policy, mean_rank, problems (how many it was taken over), for policies with a cell on at least one of them."""
    each = ranks(summary[summary["problem"].isin(problems)])
    groups = each.groupby("policy", sort=False)["rank"]
    return groups.agg(mean_rank="mean", problems="size").reset_index()
