"""The best over several problems: mean ranks, with intervals of a paired bootstrap, and Friedman's and Nemenyi's tests.

Numbers of different problems have no common unit, ranks have. Ranks are taken over policies that all played the same
problems. A policy counts as behind only where both tests say so. The first: Friedman's test finds a difference at all,
and Nemenyi's puts this policy behind (for two policies: the sign test over problems). The second: the paired bootstrap,
which draws problems and, within each, the trials that all policies share, gives an interval of the difference of mean
ranks that does not contain 0. Two or three problems can hardly ever tell policies apart, and then nobody has won.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from showdown.analysis.compare import friedman
from showdown.analysis.with_best import ALPHA, values_of

RESAMPLES = 1000


@dataclass(frozen=True)
class RankDifference:
    """Of the mean ranks of a policy and the best one; positive where the policy is worse."""

    mean: float
    low: float
    high: float
    p_value: float  # of the rank test: Nemenyi's for the pair where Friedman's test finds something, else Friedman's
    told_apart: bool


@dataclass(frozen=True)
class OverProblems:
    best: str
    rank: float
    low: float  # 95 % interval of the bootstrap
    high: float
    p_value: float  # that all policies are equal or, where they are not, that the nearest one equals the best
    test: str  # the name of that test
    share: float  # of resamples in which `best` has the lowest mean rank, a tie counting in part
    ranks: dict[str, float]
    differences: dict[str, RankDifference]  # the nearest first


def over_problems(frame: pd.DataFrame, column: str, smaller_is_better: bool, seed: int = 0) -> OverProblems:
    """Of a frame in which every policy played every problem, at least two of each."""
    means, drawn = _ranks(frame, column, 1 if smaller_is_better else -1, np.random.default_rng(seed))
    names = list(means.columns)
    mean_rank = means.mean()
    order = mean_rank.sort_values(kind="stable").index
    best = str(order[0])
    names_of, overall, pair = _rank_test(means)
    tail = ALPHA / 2
    behind = drawn - drawn[:, [names.index(best)]]  # (resamples, policies)
    each = tail / (len(names) - 1)
    differences = {}
    for name in map(str, order[1:]):
        low, high = np.quantile(behind[:, names.index(name)], [each, 1 - each])
        mean = float(mean_rank[name] - mean_rank[best])
        p_value = max(overall, pair(mean))
        told_apart = bool(low > 0 and p_value < ALPHA)
        differences[name] = RankDifference(mean, float(low), float(high), p_value, told_apart)
    low, high = np.quantile(drawn[:, names.index(best)], [tail, 1 - tail])
    lowest = drawn == drawn.min(axis=1, keepdims=True)
    share = float((lowest / lowest.sum(axis=1, keepdims=True))[:, names.index(best)].mean())
    nearest = max(found.p_value for found in differences.values())
    p_value, test = (overall, names_of[0]) if overall >= ALPHA else (nearest, names_of[1])
    ranks = {str(name): float(mean_rank[name]) for name in order}
    return OverProblems(best, ranks[best], float(low), float(high), p_value, test, share, ranks, differences)


def _ranks(
    frame: pd.DataFrame, column: str, worse: int, generator: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray]:
    """Ranks of the means, (problems, policies); and mean ranks of every resample, (resamples, policies)."""
    from scipy import stats

    names = list(dict.fromkeys(frame["policy"]))
    measured, resampled = {}, []
    for problem, group in frame.groupby("problem", sort=False):
        values = worse * values_of(group, column)[names]
        measured[problem] = stats.rankdata(values.mean())
        shared = values.dropna().to_numpy(float)  # (trials that all have, policies)
        shared = shared if len(shared) else values.mean().to_numpy(float)[None]
        weights = generator.multinomial(len(shared), np.full(len(shared), 1 / len(shared)), size=RESAMPLES)
        resampled.append(stats.rankdata(weights @ shared / len(shared), axis=1))  # (resamples, policies)
    count = len(resampled)
    problems = generator.multinomial(count, np.full(count, 1 / count), size=RESAMPLES)  # how often each was drawn
    drawn = np.einsum("rc,crp->rp", problems / count, np.stack(resampled))
    return pd.DataFrame.from_dict(measured, orient="index", columns=names), drawn


def _rank_test(ranks: pd.DataFrame) -> tuple[tuple[str, str], float, Callable[[float], float]]:
    """The names of the test and of that for a pair, the test's p-value, and the pair's from its difference of ranks."""
    from scipy import stats

    problems, policies = ranks.shape
    if policies == 2:
        first = ranks.iloc[:, 0] - ranks.iloc[:, 1]
        wins, decided = int((first < 0).sum()), int((first != 0).sum())
        p_value = float(stats.binomtest(wins, decided).pvalue) if decided else 1.0
        return ("sign test", "sign test"), p_value, lambda difference: p_value
    tidy = ranks.melt(var_name="policy", value_name="mean", ignore_index=False).rename_axis("problem").reset_index()
    unit = math.sqrt(policies * (policies + 1) / (12 * problems))

    def nemenyi(difference: float) -> float:
        return float(stats.studentized_range.sf(abs(difference) / unit, policies, math.inf))

    return ("Friedman's test", "Nemenyi's test"), friedman(tidy)["p_value"], nemenyi
