"""Aggregates over problems against loops, SciPy's tests, and rliable's definition of the probability of improvement."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from showdown.analysis.aggregates import NEAR, aggregates
from showdown.basics.errors import UsageError

METHODS, PROBLEMS, TRIALS = ("A", "B", "C"), tuple("uvwxyz"), 12


def frame_of(values, metric="cumulative", methods=METHODS, problems=PROBLEMS):
    """A frame of (problems, trials, methods); NaN is a trial that was not played."""
    rows = [
        {"policy": method, "problem": problem, "trial": trial, metric: values[p, trial, m]}
        for p, problem in enumerate(problems)
        for m, method in enumerate(methods)
        for trial in range(values.shape[1])
        if not math.isnan(values[p, trial, m])
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def values():
    generator = np.random.default_rng(3)
    means = np.exp(generator.normal(3, 0.3, (len(PROBLEMS), 1, len(METHODS))))
    return means * np.exp(generator.normal(0, 0.1, (len(PROBLEMS), TRIALS, len(METHODS))))


@pytest.fixture(scope="module")
def found(values):
    return {one.policy: one for one in aggregates(frame_of(values)).methods}


def test_values_are_those_of_a_loop(values, found):
    for place, name in enumerate(METHODS):
        ratios = [problem.mean(axis=0)[place] / problem.mean(axis=0).min() for problem in values]
        one = found[name]
        assert one.mean_ratio.value == pytest.approx(np.mean(ratios))
        assert one.worst_ratio.value == pytest.approx(max(ratios))
        assert one.worst_problem == PROBLEMS[int(np.argmax(ratios))]
        assert one.near.value == pytest.approx(np.mean([ratio <= NEAR for ratio in ratios]))
        ranks = [stats.rankdata(problem.mean(axis=0))[place] for problem in values]
        assert one.mean_rank.value == pytest.approx(np.mean(ranks))


def test_where_larger_is_better_the_ratio_is_turned_round(values):
    lower = aggregates(frame_of(values))
    higher = aggregates(frame_of(1 / values, "reward"), "reward")
    inverse = (1 / values).mean(axis=1)
    for one in higher.methods:
        place = METHODS.index(one.policy)
        assert one.mean_ratio.value == pytest.approx(np.mean(inverse.max(axis=1) / inverse[:, place]))
    assert [one.policy for one in higher.methods] == [one.policy for one in lower.methods]


def test_intervals_over_problems_are_the_t_test_and_wilson(values, found):
    means = values.mean(axis=1)
    ratios = means / means.min(axis=1, keepdims=True)
    for place, name in enumerate(METHODS):
        mine = ratios[:, place]
        expected = stats.t.interval(0.95, len(mine) - 1, mine.mean(), stats.sem(mine))
        assert found[name].mean_ratio.problems == pytest.approx((max(1, expected[0]), expected[1]))
        share, count, z = np.mean(mine <= NEAR), len(mine), stats.norm.ppf(0.975)
        middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
        half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
        assert found[name].near.problems == pytest.approx((middle - half, middle + half))
        assert found[name].worst_ratio.problems is None  # no sample shows the worst of problems it does not hold


def test_interval_over_trials_is_as_wide_as_the_delta_method_says():
    """Of one ratio of two paired means, with many trials."""
    generator = np.random.default_rng(0)
    best = generator.normal(10, 2, 300)
    other = best + generator.normal(2, 1, 300)
    found = aggregates(frame_of(np.stack([best, other], axis=-1)[None], methods="AB", problems="u"), resamples=4000)
    low, high = found.methods[1].mean_ratio.trials
    ratio = other.mean() / best.mean()
    error = stats.sem((other - ratio * best) / best.mean())  # the delta method, pairs and all
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.06)
    assert low < ratio < high
    assert found.methods[1].mean_ratio.problems is None  # one problem says nothing of others


def test_improvement_over_all_pairs_is_that_of_rliable(values):
    """Ours pairs equal trials; the mean over every way of shifting them is U / (n m), which rliable takes."""
    names = ("A", "B")
    shifted = []
    for shift in range(TRIALS):
        moved = values[:, :, :2].copy()
        moved[:, :, 1] = np.roll(moved[:, :, 1], shift, axis=1)
        found = aggregates(frame_of(moved, methods=names), resamples=2)
        first, second = (one.policy for one in found.methods)
        shifted.append(found.methods[1].improvement.value)
    one, other = values[:, :, names.index(first)], values[:, :, names.index(second)]
    pairs = [stats.mannwhitneyu(-b, -a).statistic / TRIALS**2 for a, b in zip(one, other, strict=True)]
    assert np.mean(shifted) == pytest.approx(np.mean(pairs))


def test_profiles_are_shares_of_problems(values, found):
    whole = aggregates(frame_of(values))
    means = values.mean(axis=1)
    ratios = means / means.min(axis=1, keepdims=True)
    for one in whole.methods:
        mine = ratios[:, METHODS.index(one.policy)]
        assert one.profile == pytest.approx([np.mean(mine <= level + 1e-9) for level in whole.levels])
        assert one.profile[-1] == 1


def test_critical_difference_and_friedman_are_scipys(values):
    found = aggregates(frame_of(values))
    means = values.mean(axis=1)
    assert found.friedman == pytest.approx(stats.friedmanchisquare(*means.T).pvalue)
    quantile = stats.studentized_range.ppf(0.95, 3, np.inf) / math.sqrt(2)
    assert found.critical_difference == pytest.approx(quantile * math.sqrt(3 * 4 / (6 * len(PROBLEMS))))


def test_unequal_coverage_is_left_out_and_said(values):
    partial = values.copy()
    partial[1:, :, 2] = math.nan  # C played one problem
    found = aggregates(frame_of(partial))
    assert {one.policy for one in found.methods} == {"A", "B"}
    assert found.problems == PROBLEMS
    assert found.left_out == ("C (1 of 6): played too few of the problems",)


def test_a_problem_without_a_ratio_is_left_out_and_said(values):
    zero = values.copy()
    zero[2, :, 0] = 0.0
    found = aggregates(frame_of(zero))
    assert "w" not in found.problems
    assert found.left_out == ("w: the mean of A is not above 0 there, so there is no ratio",)


def test_fewer_trials_of_one_method_widen_nothing_but_the_spread(values):
    fewer = values.copy()
    fewer[:, 5:, 1] = math.nan
    found = {one.policy: one for one in aggregates(frame_of(fewer)).methods}
    means = np.nanmean(fewer, axis=1)
    assert found["B"].mean_ratio.value == pytest.approx((means[:, 1] / means.min(axis=1)).mean())


def test_what_has_no_aggregates_is_refused(values):
    with pytest.raises(UsageError, match="one number per cell"):
        aggregates(frame_of(values), "time")
    with pytest.raises(UsageError, match="two methods that played the same problems"):
        aggregates(frame_of(values[:, :, :1], methods="A"))
    with pytest.raises(UsageError, match="two trials or more"):
        aggregates(frame_of(values[:, :1]))
