"""Ranks: 1 is the best mean on a problem; the mean rank is by default over the ten problems of the paper's.

Ties share the average of their ranks. Mean ranks of policies that played different problems cannot be compared:
`comparable_ranks` is over those that played the same, which `coverage` finds. `mean_ranks` skips missing cells, as
beside the paper's numbers. `rank_rows` gives mean ranks as rows of a table.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.published import RANKED_PROBLEMS
from showdown.analysis.summary import BASELINE, metric_of
from showdown.basics.errors import UsageError

RANK = "mean_rank"  # the column (and metric) of mean ranks in a table

# What every method should beat. It is shown, but a verdict never counts it among the methods it chooses from.
REFERENCES = frozenset({BASELINE})


class Coverage(NamedTuple):
    """Policies that can be ranked, because all of them played the same problems."""

    policies: list[str]  # that played all of `problems`
    problems: list[str]
    played: dict[str, int]  # policy to the number of all problems that it played
    total: int  # of all problems

    @property
    def left_out(self) -> list[str]:
        return [policy for policy in self.played if policy not in self.policies]


def coverage(cells: pd.DataFrame, references: frozenset[str] = REFERENCES) -> Coverage:
    """The largest table without gaps over at least half of the problems, found in rows with policy and problem.

    Half, because ranks over two problems say little, however many methods played both; where no two methods share half
    of the problems, any two. Sets of problems that are looked at: those that a method played, and what two of these
    have in common. Of two tables with as many cells, the one with more problems. References count for neither rule;
    they are among the policies where they played these problems.
    """
    pairs = cells[["policy", "problem"]].drop_duplicates()
    problems = list(dict.fromkeys(pairs["problem"]))
    sets = {policy: frozenset(group) for policy, group in pairs.groupby("policy", sort=False)["problem"]}
    methods = [policy for policy in sets if policy not in references] or list(sets)
    chosen = frozenset(problems)
    if len(methods) > 1 and any(sets[policy] != chosen for policy in methods):
        chosen = _largest([sets[policy] for policy in methods], len(problems))
    shown = [policy for policy in sets if chosen and chosen <= sets[policy]]
    played = {policy: len(group) for policy, group in sets.items()}
    return Coverage(shown, [name for name in problems if name in chosen], played, len(problems))


def _largest(sets: list[frozenset[str]], total: int) -> frozenset[str]:
    """The problems of the largest table of two methods or more, from the sets that methods played; may be empty."""
    count = Counter(sets)
    own = list(count)
    shared = (one & other for one, other in itertools.combinations(own, 2))
    sizes = {
        one: (len(one), sum(number for other, number in count.items() if one <= other))
        for one in dict.fromkeys([*own, *shared, frozenset.intersection(*own)])
    }
    tables = [one for one, (_, methods) in sizes.items() if one and methods > 1]
    wide = [one for one in tables if 2 * len(one) >= total] or tables
    return max(wide, key=lambda one: (math.prod(sizes[one]), len(one)), default=frozenset())


def ranks(summary: pd.DataFrame) -> pd.DataFrame:
    """A row per cell: policy, problem, rank. The summary may lack the column metric if it is a regret."""
    upwards = metric_of(summary).smaller_is_better
    rank = summary.groupby("problem", sort=False)["mean"].rank(method="average", ascending=upwards)
    return summary[["policy", "problem"]].assign(rank=rank).dropna(subset="rank").reset_index(drop=True)


def comparable_ranks(summary: pd.DataFrame, problems: Sequence[str] = RANKED_PROBLEMS) -> pd.DataFrame:
    """The `mean_ranks` of the policies that played the same problems (see `coverage`), among each other."""
    return mean_ranks(comparable(summary, problems), problems)


def comparable(summary: pd.DataFrame, problems: Sequence[str]) -> pd.DataFrame:
    """The rows of methods that all played the same problems, over which ranks can be taken.

    Uniform is no method: verdicts, tables and the page all rank without it, and so show the same ranks. It stays where
    fewer than two methods would be left.
    """
    cells = summary[summary["problem"].isin(problems)]
    found = coverage(cells)
    rows = cells[cells["policy"].isin(found.policies) & cells["problem"].isin(found.problems)]
    methods = rows[~rows["policy"].isin(REFERENCES)]
    return methods if methods["policy"].nunique() > 1 else rows


def mean_ranks(summary: pd.DataFrame, problems: Sequence[str] = RANKED_PROBLEMS) -> pd.DataFrame:
    """A row per policy with a cell on any of the problems: policy, mean_rank, problems (how many it is over)."""
    each = ranks(summary[summary["problem"].isin(problems)])
    groups = each.groupby("policy", sort=False)["rank"]
    return groups.agg(mean_rank="mean", problems="size").reset_index()


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
