"""Comparisons of policies against cases worked out by hand."""

from __future__ import annotations

import math
import sys

import pandas as pd
import pytest

from showdown.analysis.compare import (
    critical_difference,
    friedman,
    nemenyi,
    paired_differences,
    pareto_front,
    stuck_share,
)
from showdown.basics.errors import UsageError


def summary(means: dict[str, list[float]]) -> pd.DataFrame:
    rows = [(policy, f"problem{i}", mean) for policy, values in means.items() for i, mean in enumerate(values)]
    return pd.DataFrame(rows, columns=["policy", "problem", "mean"])


def test_differences_are_paired_by_trial(frame_of):
    # the two policies share large luck per trial; A is 1, 2, 3 and 0 better
    frame = frame_of({("A", "x"): [100, 200, 300, 50], ("B", "x"): [101, 202, 303, 50], ("B", "y"): [1, 1, 1, 1]})
    found = paired_differences(frame, "A", "B")
    assert list(found["problem"]) == ["x"]
    row = found.iloc[0]
    assert row["mean"] == pytest.approx(-1.5)
    assert row["wins"] == pytest.approx(3.5 / 4)
    assert row["trials"] == 4
    assert -3 <= row["low"] < -1.5 < row["high"] <= 0  # luck of hundreds has cancelled


def test_the_interval_of_a_constant_difference_is_a_point(frame_of):
    found = paired_differences(frame_of({("A", "x"): [1, 5, 9], ("B", "x"): [3, 7, 11]}), "A", "B").iloc[0]
    assert (found["mean"], found["low"], found["high"]) == pytest.approx((-2, -2, -2))


def test_the_interval_is_that_of_the_bootstrap(frame_of):
    # differences 0 and 1: a resampled mean is 0, ½ or 1 with probabilities ¼, ½, ¼, so 25 % and 75 % are the edges
    frame = frame_of({("A", "x"): [0, 1], ("B", "x"): [0, 0]})
    wide = paired_differences(frame, "A", "B", confidence=0.9).iloc[0]
    narrow = paired_differences(frame, "A", "B", confidence=0.3).iloc[0]
    assert (wide["low"], wide["high"]) == (0, 1)
    assert (narrow["low"], narrow["high"]) == (0.5, 0.5)


def test_trials_that_only_one_has_are_left_out(frame_of):
    found = paired_differences(frame_of({("A", "x"): [1, 2, 100], ("B", "x"): [0, 0]}), "A", "B").iloc[0]
    assert (found["mean"], found["trials"]) == (1.5, 2)


def test_the_larger_reward_wins(frame_of):
    found = paired_differences(frame_of({("A", "x"): [1, 2, 3], ("B", "x"): [2, 2, 1]}), "A", "B", "reward").iloc[0]
    assert found["mean"] == pytest.approx(-1 / 3)  # rewards are 1000 minus these: 1, 0 and −2
    assert found["wins"] == pytest.approx((1 + 0.5 + 0) / 3)


def test_nothing_in_common_is_said(frame_of):
    with pytest.raises(UsageError, match="A and B have no trial"):
        paired_differences(frame_of({("A", "x"): [1], ("B", "y"): [1]}), "A", "B")


def test_friedman_of_a_perfect_order():
    # ranks 1, 2, 3 on each of 4 problems: 12·4/(3·4)·(1 + 0 + 1) = 8, and exp(−8/2) with 2 degrees of freedom
    found = friedman(summary({"A": [1, 1, 1, 1], "B": [2, 2, 2, 2], "C": [3, 3, 3, 3]}))
    assert found["statistic"] == pytest.approx(8)
    assert found["p_value"] == pytest.approx(math.exp(-4))
    assert (found["policies"], found["problems"]) == (3, 4)
    assert found["critical_difference"] == pytest.approx(critical_difference(3, 4))


def test_friedman_of_policies_that_all_tie():
    found = friedman(summary({"A": [1, 2], "B": [1, 2], "C": [1, 2]}))
    assert (found["statistic"], found["p_value"]) == (0, 1)


def test_critical_differences_are_the_tabulated_ones():
    # Demšar (2006): q at 5 % is 2.343 for 3 and 2.569 for 4 classifiers; his example with 14 data sets gives 1.25
    assert critical_difference(4, 14) == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    assert critical_difference(3, 10) == pytest.approx(2.343 * math.sqrt(3 * 4 / 60), abs=1e-3)


def test_problems_that_a_policy_has_not_played_are_left_out_of_the_test():
    means = summary({"A": [1, 1, 1, 9], "B": [2, 2, 2, 1], "C": [3, 3, 3]})
    assert friedman(means)["problems"] == 3


def test_too_little_for_a_rank_test():
    with pytest.raises(UsageError, match="2 policies and 3 problems"):
        friedman(summary({"A": [1, 1, 1], "B": [2, 2, 2]}))


def test_nemenyi_pairs_cross_the_critical_difference_at_the_level():
    means = summary({"A": [1] * 6, "B": [2] * 6, "C": [3] * 6})
    pairs = nemenyi(means).set_index(["first", "second"])
    assert list(pairs.index) == [("A", "B"), ("A", "C"), ("B", "C")]
    assert pairs["rank_difference"].tolist() == [-1, -2, -1]
    limit = critical_difference(3, 6)
    assert 1 < limit < 2
    assert pairs.loc[("A", "C"), "p_value"] < 0.05 < pairs.loc[("A", "B"), "p_value"]


def test_nemenyi_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(UsageError, match=r"bandit-showdown\[analysis\]"):
        nemenyi(summary({"A": [1, 1], "B": [2, 2], "C": [3, 3]}))


def test_ranks_and_pairs_of_rewards_begin_with_the_largest():
    means = summary({"A": [1] * 6, "B": [2] * 6, "C": [3] * 6}).assign(metric="reward")
    assert nemenyi(means)["rank_difference"].tolist() == [1, 2, 1]  # C is first, A last
    assert friedman(means)["p_value"] == pytest.approx(friedman(means.drop(columns="metric"))["p_value"])


def test_stuck_trials_gain_less_than_half_of_what_the_best_gains(frame_of):
    frame = frame_of({("Uniform", "x"): [90, 110], ("A", "x"): [1, 50, 51, 80], ("B", "x"): [0, 0]})
    found = stuck_share(frame).set_index("policy")
    assert found["share"].to_dict() == {"Uniform": 1.0, "A": 0.5, "B": 0.0}  # the middle itself is not stuck
    assert found["trials"].to_dict() == {"Uniform": 2, "A": 4, "B": 2}


def test_no_trial_is_stuck_only_because_the_problem_is_hard(frame_of):
    """Half of Uniform's regret would call every trial of every method stuck where the best has 75 % of it."""
    frame = frame_of({("Uniform", "x"): [100, 100], ("A", "x"): [74, 76], ("B", "x"): [76, 90]})
    assert stuck_share(frame).set_index("policy")["share"].to_dict() == {"Uniform": 1.0, "A": 0.0, "B": 0.5}


def test_the_front_holds_what_nothing_beats():
    regret = summary({"fast": [9, 1], "good": [1, 2], "both": [1, 1], "worse": [9, 3], "untimed": [0]})
    time = summary({"fast": [1, 1], "good": [5, 5], "both": [4, 1], "worse": [1.5, 9]})
    found = pareto_front(regret, time).set_index(["policy", "problem"])["on_front"]
    assert found.to_dict() == {
        ("fast", "problem0"): True,
        ("good", "problem0"): False,  # as good as `both`, and slower
        ("both", "problem0"): True,
        ("worse", "problem0"): False,
        ("fast", "problem1"): True,  # equal points do not beat each other
        ("good", "problem1"): False,
        ("both", "problem1"): True,
        ("worse", "problem1"): False,
    }


def test_the_front_of_rewards_holds_the_large_and_the_fast():
    reward = summary({"fast": [1], "good": [9], "worse": [1]}).assign(metric="reward")
    found = pareto_front(reward, summary({"fast": [1], "good": [5], "worse": [6]})).set_index("policy")["on_front"]
    assert found.to_dict() == {"fast": True, "good": True, "worse": False}
