"""Is one policy better than another? Paired differences, rank tests, stuck trials, a metric against time."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pandas as pd

from showdown.analysis.ranks import mean_ranks
from showdown.analysis.selection import require_one_cell_each
from showdown.analysis.summary import BASELINE, metric_of
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN, metric_named


def paired_differences(
    frame: pd.DataFrame,
    first: str,
    second: str,
    metric: str = MAIN,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """A row per problem that both played: problem, mean, low, high, wins, trials, of `first` minus `second` by trial.

    Trial i of a problem is the same for every policy, so differences are paired and the luck of the draw cancels. The
    interval is the percentile bootstrap of the mean over trials; `wins` is the share of trials in which `first` is
    better (lower in regret, higher in reward), a tie counting half. Only trials that both have are used.
    """
    better = 1 if metric_named(metric).smaller_is_better else -1
    require_one_cell_each(frame)
    run = ["problem", "horizon", "seed", "trial"]
    one, two = (frame.loc[frame["policy"] == name, [*run, metric]] for name in (first, second))
    pairs = one.merge(two, on=run, suffixes=("_first", "_second")).dropna()
    if pairs.empty:
        raise UsageError(f"{first} and {second} have no trial of the same problem, horizon and seed in common")
    pairs["difference"] = pairs[f"{metric}_first"] - pairs[f"{metric}_second"]
    generator = np.random.default_rng(seed)
    tail = (1 - confidence) / 2
    rows = []
    for problem, group in pairs.groupby("problem", sort=False):
        difference = group["difference"].to_numpy(float)  # (trials,)
        drawn = generator.integers(len(difference), size=(resamples, len(difference)))
        low, high = np.quantile(difference[drawn].mean(axis=1), [tail, 1 - tail])
        wins = float(np.mean((better * difference < 0) + 0.5 * (difference == 0)))
        rows.append((problem, difference.mean(), low, high, wins, len(difference)))
    return pd.DataFrame(rows, columns=["problem", "mean", "low", "high", "wins", "trials"])


def friedman(summary: pd.DataFrame, *, alpha: float = 0.05) -> dict[str, float]:
    """Friedman's test that all policies are equal, over the problems on which every one of them has a mean.

    Gives statistic, p_value, critical_difference (Nemenyi: mean ranks further apart than this differ at level alpha),
    alpha, policies and problems (the numbers of each). Missing (policy, problem) cells drop the problem for all. Where
    all policies tie on every problem the statistic is 0 and p 1.
    """
    from scipy import stats

    blocks = _complete_blocks(summary)  # (problems, policies)
    tied = blocks.nunique(axis=1).eq(1).all()  # which scipy answers with 0 / 0
    statistic, p_value = (0.0, 1.0) if tied else stats.friedmanchisquare(*(blocks[policy] for policy in blocks))
    problems, policies = blocks.shape
    return {
        "statistic": float(statistic),
        "p_value": float(p_value),
        "critical_difference": critical_difference(policies, problems, alpha),
        "alpha": alpha,
        "policies": policies,
        "problems": problems,
    }


def critical_difference(policies: int, problems: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: q·√(k(k+1) / 6n); q is the studentised range at infinite freedom over √2."""
    from scipy import stats

    quantile = stats.studentized_range.ppf(1 - alpha, policies, math.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(policies * (policies + 1) / (6 * problems)))


def nemenyi(summary: pd.DataFrame) -> pd.DataFrame:
    """A row per pair of policies: first, second, rank_difference, p_value, over the problems that all played."""
    blocks = _complete_blocks(summary)
    p_values = _posthocs().posthoc_nemenyi_friedman(blocks.to_numpy())
    long = blocks.melt(var_name="policy", value_name="mean", ignore_index=False).reset_index()
    long = long.assign(metric=metric_of(summary).name)
    rank = mean_ranks(long, list(blocks.index)).set_index("policy")["mean_rank"]
    names = list(blocks)
    return pd.DataFrame(
        [
            (names[i], names[j], rank[names[i]] - rank[names[j]], p_values.iloc[i, j])
            for i in range(len(names))
            for j in range(i + 1, len(names))
        ],
        columns=["first", "second", "rank_difference", "p_value"],
    )


def _complete_blocks(summary: pd.DataFrame) -> pd.DataFrame:
    blocks = summary.pivot(index="problem", columns="policy", values="mean").dropna()
    problems, policies = blocks.shape
    if policies < 3 or problems < 2:
        raise UsageError(
            f"a rank test needs three policies that all played the same two problems; "
            f"there are {policies} {'policy' if policies == 1 else 'policies'} "
            f"and {problems} {'problem' if problems == 1 else 'problems'}"
        )
    return blocks[list(dict.fromkeys(summary["policy"]))]


def _posthocs() -> ModuleType:
    try:
        import scikit_posthocs
    except ImportError:
        raise UsageError("the Nemenyi test needs scikit-posthocs: pip install 'bandit-showdown[analysis]'") from None
    return scikit_posthocs


def stuck_share(frame: pd.DataFrame, metric: str = MAIN) -> pd.DataFrame:
    """A row per cell: policy, problem, share, trials. The share is of trials that are stuck.

    A trial is stuck where it gained less than half of what the best policy's mean gains over Uniform's: where its
    regret is above the middle of the two. On a problem that can be learned well this is half of Uniform's regret; on a
    hard one, where the best has 75 % of it, half would call every trial stuck. The mean of a greedy network is often
    carried by a few trials that settled on a bad action for ever.
    """
    require_one_cell_each(frame)
    keys = ["policy", "problem"]
    means = frame.groupby(keys, sort=False)[metric].mean()
    uniform = means[means.index.get_level_values("policy") == BASELINE].droplevel("policy")
    middle = (uniform + means.groupby(level="problem").min()) / 2  # NaN where Uniform was not played: nothing is stuck
    stuck = (frame[metric] > frame["problem"].map(middle)).groupby([frame[key] for key in keys], sort=False)
    return stuck.agg(share="mean", trials="size").reset_index()


def pareto_front(quality: pd.DataFrame, time: pd.DataFrame) -> pd.DataFrame:
    """A row per cell: policy, problem, value, time, on_front (nothing else is as good in both and better in one).

    `quality` and `time` are summaries; a (policy, problem) that one of them lacks is left out.
    """
    keys = ["policy", "problem"]
    worse = 1 if metric_of(quality).smaller_is_better else -1
    quality = quality[[*keys, "mean"]].rename(columns={"mean": "value"})
    both = quality.merge(time[[*keys, "mean"]].rename(columns={"mean": "time"}), on=keys).dropna()
    on_front = pd.Series(False, index=both.index)
    for _, group in both.groupby("problem", sort=False):
        points = group[["value", "time"]].to_numpy(float) * [worse, 1]  # (policies, 2) of which less is better
        no_worse = (points[:, None] <= points[None]).all(axis=-1)  # (policies, policies): row against column
        better = (points[:, None] < points[None]).any(axis=-1)
        on_front[group.index] = ~(no_worse & better).any(axis=0)
    return both.assign(on_front=on_front).reset_index(drop=True)
