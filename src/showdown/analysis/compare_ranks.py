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
MOST_PROBLEMS = 200  # nobody plays more to tell two policies apart


@dataclass(frozen=True)
class RankDifference:
    """The mean rank of a policy minus that of the best one; positive where the policy is worse."""

    mean: float
    low: float
    high: float
    p_value: float  # the larger of Friedman's and Wilcoxon's, which is corrected for the number of comparisons
    told_apart: bool
    told_apart_alone: bool  # by Wilcoxon's test of this pair, without a correction


@dataclass(frozen=True)
class RankComparison:
    """The policy with the best mean rank, and how the others compare with it."""

    best: str
    rank: float
    low: float  # 95 % interval of the bootstrap
    high: float
    p_value: float  # that all policies are equal or, where they are not, that the nearest one equals the best
    test: str  # the name of that test
    pair: tuple[str, str] | None  # that it compares; None for Friedman's, which is about all policies
    enough: int | None  # problems that would probably tell this pair apart; None: it is, or no number of problems would
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
        alone = signed_rank(values[:, names.index(name)] - values[:, names.index(best)])
        p_value = max(overall, min(1.0, (len(names) - 1) * alone))
        told_apart = bool(low > 0 and p_value < ALPHA)
        differences[name] = RankDifference(mean, float(low), float(high), p_value, told_apart, alone < ALPHA)
    low, high = np.quantile(drawn[:, names.index(best)], [tail, 1 - tail])
    lowest = drawn == drawn.min(axis=1, keepdims=True)
    share = float((lowest / lowest.sum(axis=1, keepdims=True))[:, names.index(best)].mean())
    nearest = max(differences, key=lambda name: differences[name].p_value)
    ranks = {str(name): float(mean_rank[name]) for name in order}
    about = best, ranks[best], float(low), float(high)
    if overall >= ALPHA:
        return RankComparison(*about, overall, "Friedman's test", None, None, share, ranks, differences)
    apart = values[:, names.index(nearest)] - values[:, names.index(best)]
    enough = None if differences[nearest].told_apart else problems_enough(apart, len(names) - 1)
    p_value = differences[nearest].p_value
    return RankComparison(*about, p_value, "Wilcoxon's test", (best, nearest), enough, share, ranks, differences)


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


def problems_enough(differences: np.ndarray, comparisons: int) -> int | None:
    """How many problems with such differences would tell two policies apart four times in five; None for very many.

    The number for a paired t test, divided by 0.955, the efficiency of Wilcoxon's test for normal differences. It is a
    guess: the spread is known from the problems that were played.
    """
    from scipy import special

    if len(differences) < 2 or differences.mean() <= 0 or differences.std(ddof=1) == 0:
        return None
    effect = float(differences.mean() / differences.std(ddof=1))
    count = math.ceil((special.ndtri(1 - ALPHA / (2 * comparisons)) + special.ndtri(0.8)) ** 2 / effect**2 / 0.955)
    count = max(count, problems_needed(comparisons + 1))
    return count if len(differences) < count <= MOST_PROBLEMS else None


def problems_needed(policies: int) -> int:
    """The fewest problems on which a policy that is best on all of them can be told from the others."""
    return math.ceil(math.log2(2 * (policies - 1) / ALPHA))
