"""The best over several problems: mean ranks, with intervals of a paired bootstrap, and tests against the best.

Numbers of different problems have no common unit, ranks have. Ranks are taken over policies that all played the same
problems. A policy counts as behind only where all three say so:

- Friedman's test finds a difference between the policies at all (for three or more);
- Wilcoxon's signed-rank test of this policy and the best, over problems. It looks at the two alone, so it does not
  depend on which others were played, as tests of mean ranks do (Benavoli, Corani, Mangili 2016). The best was chosen
  from the same data, so p-values are multiplied by the number of others: as on one problem (`compare_trials.py`), the
  truly best policy is called behind with a probability of at most 5 %, whichever was picked. Holm's steps would not do;
- the paired bootstrap, which draws problems and, within each, the trials that all policies share, gives an interval of
  the difference of mean ranks that does not contain 0.

With few problems Wilcoxon's test can never tell policies apart (`problems_needed`), and then nobody has won.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from showdown.analysis.compare import friedman
from showdown.analysis.compare_trials import ALPHA, values_of

RESAMPLES = 1000


@dataclass(frozen=True)
class RankDifference:
    """The mean rank of a policy minus that of the best one; positive where the policy is worse."""

    mean: float
    low: float
    high: float
    p_value: float  # the larger of Friedman's and Wilcoxon's, which is corrected for the number of comparisons
    told_apart: bool


@dataclass(frozen=True)
class RankComparison:
    """The policy with the best mean rank, and how the others compare with it."""

    best: str
    rank: float
    low: float  # 95 % interval of the bootstrap
    high: float
    p_value: float  # that all policies are equal or, where they are not, that the nearest one equals the best
    test: str  # the name of that test
    share: float  # of resamples in which `best` has the lowest mean rank, a tie counting in part
    ranks: dict[str, float]
    differences: dict[str, RankDifference]  # the nearest first


def compare_mean_ranks(
    frame: pd.DataFrame,
    column: str,
    smaller_is_better: bool,
    scales: Mapping[str, float] | None = None,
    seed: int = 0,
) -> RankComparison:
    """Compare policies by their mean ranks. Every policy of the frame played every problem, at least two of each.

    `scales` gives, by problem, what brings its values to a common unit; without, Wilcoxon's test is of ranks.
    """
    worse = 1 if smaller_is_better else -1
    ranks_of, drawn = _ranks(frame, column, worse, np.random.default_rng(seed))
    names = list(ranks_of.columns)
    mean_rank = ranks_of.mean()
    order = mean_rank.sort_values(kind="stable").index
    best = str(order[0])
    overall = _overall(ranks_of)
    values = (
        ranks_of.to_numpy(float) if scales is None else worse * _scaled_means(frame, column, scales)[names].to_numpy()
    )
    tail = ALPHA / 2
    behind = drawn - drawn[:, [names.index(best)]]  # (resamples, policies)
    each = tail / (len(names) - 1)
    differences = {}
    for name in map(str, order[1:]):
        low, high = np.quantile(behind[:, names.index(name)], [each, 1 - each])
        mean = float(mean_rank[name] - mean_rank[best])
        pair = (len(names) - 1) * signed_rank(values[:, names.index(name)] - values[:, names.index(best)])
        p_value = max(overall, min(1.0, pair))
        told_apart = bool(low > 0 and p_value < ALPHA)
        differences[name] = RankDifference(mean, float(low), float(high), p_value, told_apart)
    low, high = np.quantile(drawn[:, names.index(best)], [tail, 1 - tail])
    lowest = drawn == drawn.min(axis=1, keepdims=True)
    share = float((lowest / lowest.sum(axis=1, keepdims=True))[:, names.index(best)].mean())
    nearest = max(found.p_value for found in differences.values())
    p_value, test = (overall, "Friedman's test") if overall >= ALPHA else (nearest, "Wilcoxon's test")
    ranks = {str(name): float(mean_rank[name]) for name in order}
    return RankComparison(best, ranks[best], float(low), float(high), p_value, test, share, ranks, differences)


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


def _scaled_means(frame: pd.DataFrame, column: str, scales: Mapping[str, float]) -> pd.DataFrame:
    """The mean of every cell in the common unit, (problems, policies)."""
    means = frame.groupby(["problem", "policy"])[column].mean().unstack()
    return means.mul(pd.Series(scales), axis=0)


def _overall(ranks: pd.DataFrame) -> float:
    """Friedman's p-value that all policies are equal; 0 for two policies, which the test of the pair is enough for."""
    if ranks.shape[1] == 2:
        return 0.0
    tidy = ranks.melt(var_name="policy", value_name="mean", ignore_index=False).rename_axis("problem").reset_index()
    return friedman(tidy)["p_value"]


def signed_rank(differences: np.ndarray) -> float:
    """Wilcoxon's two-sided p-value, exact with ties too: scipy's takes seconds with ties. Zeros are left out."""
    from scipy import stats

    held = differences[differences != 0]
    twice = (2 * stats.rankdata(np.abs(held))).astype(int)  # of tied ranks, whole
    chance = _chance_of_sums(tuple(np.sort(twice).tolist()))
    positive = int(twice[held > 0].sum())
    return float(min(1.0, 2 * min(chance[: positive + 1].sum(), chance[positive:].sum())))


@functools.lru_cache(maxsize=100)
def _chance_of_sums(ranks: tuple[int, ...]) -> np.ndarray:
    """The probability of every sum of the ranks of positive differences, if each sign is a coin's."""
    chance = np.ones(1)
    for rank in ranks:
        chance = (np.pad(chance, (0, rank)) + np.pad(chance, (rank, 0))) / 2
    return chance


def problems_needed(policies: int) -> int:
    """The fewest problems on which a policy that is best on all of them can be told from the others."""
    return math.ceil(math.log2(2 * (policies - 1) / ALPHA))
