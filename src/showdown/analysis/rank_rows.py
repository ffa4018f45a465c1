"""Mean ranks as rows of a table, beside those of the published means over the same cells."""

from __future__ import annotations

import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.ranks import comparable_ranks, mean_ranks
from showdown.analysis.table import RANK
from showdown.basics.errors import UsageError


def rank_rows(summary: pd.DataFrame, paper: pd.DataFrame | None, over: list[str]) -> pd.DataFrame:
    """One row per policy of a summary in absolute numbers; with `paper`, ranks are taken among published cells."""
    ranks = comparable_ranks(summary, over) if paper is None else _ranks_among(summary, paper, over)
    if ranks.empty:
        raise UsageError(f"a mean rank needs policies that played the same problems of {', '.join(over)}")
    rows = ranks.rename(columns={"mean_rank": "mean"}).assign(problem=RANK, metric=RANK, unit="rank", sem=float("nan"))
    rows = rows.assign(horizon=None, seed=None, trials=None)[list(SUMMARY)]
    if paper is not None:
        same = paper.merge(summary[["policy", "problem", "metric"]]).rename(columns={"paper_mean": "mean"})
        theirs = mean_ranks(same, over).set_index("policy")["mean_rank"]
        rows = rows.assign(paper_mean=rows["policy"].map(theirs), paper_sem=float("nan"))
        rows = rows.assign(agrees=None, z=float("nan"), finding=None)
    return rows


def _ranks_among(summary: pd.DataFrame, paper: pd.DataFrame, over: list[str]) -> pd.DataFrame:
    """Mean ranks among published cells, as the paper's are; a policy that is not published, as if it alone joined."""
    known = summary.merge(paper[["policy", "problem"]])
    parts = [mean_ranks(known, over)]
    unknown = summary[~summary["policy"].isin(known["policy"]) & summary["problem"].isin(known["problem"])]
    for policy, own in unknown.groupby("policy", sort=False):
        joined = mean_ranks(pd.concat([known, own]), over)
        parts.append(joined[joined["policy"] == policy])
    return pd.concat(parts, ignore_index=True)
