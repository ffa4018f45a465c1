"""Means, standard errors, normalisation and times, by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from showdown.analysis import SUMMARY
from showdown.analysis.summary import summarise, summarise_best_fixed, time_taken
from showdown.basics.errors import UsageError
from showdown.metrics import BEST_FIXED


def row(summary: pd.DataFrame, policy: str, problem: str = "x") -> dict:
    return summary[(summary["policy"] == policy) & (summary["problem"] == problem)].to_dict("records")[0]


def test_mean_and_standard_error_over_trials(frame_of):
    summary = summarise(frame_of({("A", "x"): [1, 2, 6]}), absolute=True)
    assert tuple(summary) == SUMMARY
    # mean 3; deviations −2, −1, 3: variance 14 / (3 − 1) = 7; standard error √(7/3)
    found = row(summary, "A")
    assert found["mean"] == pytest.approx(3)
    assert found["sem"] == pytest.approx(math.sqrt(7 / 3))
    assert (found["trials"], found["metric"], found["unit"]) == (3, "cumulative", "regret")


def test_normalised_by_the_mean_of_uniform_on_the_same_problem(frame_of):
    cells = {("Uniform", "x"): [40, 60], ("A", "x"): [4, 6], ("Uniform", "y"): [8, 12], ("A", "y"): [4, 6]}
    summary = summarise(frame_of(cells))
    assert row(summary, "A", "x")["mean"] == pytest.approx(10)
    assert row(summary, "A", "x")["sem"] == pytest.approx(2)  # deviation √2, over √2 trials: 1; 100·1/50
    assert row(summary, "A", "y")["mean"] == pytest.approx(50)
    assert row(summary, "Uniform", "y")["mean"] == pytest.approx(100)
    assert row(summary, "Uniform", "y")["sem"] == pytest.approx(20)  # its own spread remains
    assert set(summary["unit"]) == {"% of Uniform"}


def test_metric_and_expected_choose_the_column(frame_of):
    frame = frame_of({("A", "x"): [10, 30]})
    means = {
        (metric, expected): summarise(frame, metric, expected=expected, absolute=True)["mean"].item()
        for metric in ("cumulative", "simple")
        for expected in (False, True)
    }
    assert means == {
        ("cumulative", False): 20,
        ("cumulative", True): 21,
        ("simple", False): 2,
        ("simple", True): 1,
    }
    assert summarise(frame, "simple", expected=True, absolute=True)["metric"].item() == "simple_expected"


def test_rewards_are_never_relative(frame_of):
    frame = frame_of({("Uniform", "x"): [40, 60], ("A", "x"): [4, 6]})
    assert row(summarise(frame, "reward"), "A")["mean"] == 995
    assert set(summarise(frame, "reward")["unit"]) == {"reward"}


def test_each_trial_counts_once_in_the_best_fixed_action(frame_of):
    frame = frame_of({("A", "x"): [1, 2, 3], ("B", "x"): [1, 2], ("B", "y"): [5]})
    summary = summarise_best_fixed(frame, "reward")
    assert set(summary["policy"]) == {BEST_FIXED}
    # 900, 901 and 902 on x, whoever played; one trial on y
    assert row(summary, BEST_FIXED, "x")["mean"] == 901
    assert row(summary, BEST_FIXED, "x")["trials"] == 3
    assert row(summary, BEST_FIXED, "y")["mean"] == 900
    assert summarise_best_fixed(frame, "cumulative").empty


def test_one_trial_has_no_standard_error(frame_of):
    assert math.isnan(summarise(frame_of({("A", "x"): [1]}), absolute=True)["sem"].item())


def test_uniform_of_another_seed_or_horizon_is_no_yardstick(frame_of):
    ours = frame_of({("A", "x"): [1, 2]})
    for other in ({"seed": 1}, {"horizon": 50}):
        frame = pd.concat([ours, frame_of({("Uniform", "x"): [4, 4]}, **other)])
        with pytest.raises(UsageError, match=r"x \(horizon 100, seed 0\) has no finished Uniform"):
            summarise(frame)


def test_a_yardstick_of_zero_is_refused(frame_of):
    with pytest.raises(UsageError, match="not positive"):
        summarise(frame_of({("Uniform", "x"): [1, -1], ("A", "x"): [1, 2]}))


def test_time_is_relative_to_rms_per_trial_where_there_is_one(frame_of):
    seconds = {"RMS": 4.0, "A": 1.0}
    frame = frame_of({("RMS", "x"): [0, 0], ("A", "x"): [0], ("A", "y"): [0]}, seconds=seconds)
    summary = time_taken(frame)
    # RMS takes 2 seconds a trial, A 1
    assert row(summary, "A", "x")["mean"] == pytest.approx(50)
    assert row(summary, "RMS", "x")["mean"] == pytest.approx(100)
    assert row(summary, "A", "y")["mean"] == 1
    assert list(summary["unit"]) == ["% of RMS", "% of RMS", "seconds"]
    assert summary["sem"].isna().all()
    absolute = time_taken(frame, absolute=True)
    assert list(absolute["mean"]) == [4, 1, 1]
    assert set(absolute["unit"]) == {"seconds"}
