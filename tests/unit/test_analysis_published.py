"""The paper's numbers as package data, the rule of agreement, and the paper's mean ranks reproduced."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from showdown.analysis.published import (
    HORIZONS,
    RANKED_PROBLEMS,
    against,
    agrees,
    count_findings,
    judged,
    published,
    tables,
)
from showdown.analysis.ranks import mean_ranks, ranks
from showdown.basics.errors import UsageError
from showdown.policies import policies

NUMBERS = {  # rows in each table; the paper has no GP on song and census, no Bootstrapped NN3 on covertype
    "main_cumulative": 53 * 6,
    "nonlinear_cumulative": 53 * 8 - 2,
    "nonlinear_simple": 53 * 8 - 2,
    "nonlinear_time": 53 * 8 - 2,
    "wheel_cumulative": 53 * 5,
    "wheel_simple": 53 * 5,
    "linear_cumulative": 34 * 6 - 1,
    "linear_simple": 34 * 6 - 1,
}


def test_all_eight_tables_are_there_and_whole():
    published_tables = tables()
    assert published_tables["table"].value_counts().to_dict() == NUMBERS
    assert not published_tables.duplicated(["table", "preset", "problem"]).any()
    assert published_tables["mean"].notna().all()
    assert set(published_tables.loc[published_tables["sem"].isna(), "metric"]) == {"mean_rank"}
    assert set(published_tables["problem"]) == {*HORIZONS, "mean_rank"}


@pytest.mark.parametrize(
    ("source", "metric", "policy", "problem", "expected"),
    [
        ("paper", "cumulative", "AlphaDivergence-1", "mushroom", (54.29, 0.04)),
        ("paper", "cumulative", "LinFullPost", "wheel-0.99", (57.86, 2.84)),
        ("paper", "simple", "AlphaDivergence-1", "wheel-0.95", (118.13, 3.03)),
        ("paper", "time", "AlphaDivergence-1", "financial", (10289.67, 827.51)),
        ("paper-linear", "cumulative", "AlphaDivergences@linear", "statlog", (3213.57, 8.88)),
        ("paper-linear", "simple", "AlphaDivergences@linear", "mushroom", (0.68, 0.04)),
        ("short-track", "cumulative", "LU-Gauss", "statlog", (8.73, 0.396)),  # 2.80 / √50
    ],
)
def test_numbers_are_found_by_our_names(source, metric, policy, problem, expected):
    numbers = published(source, metric).set_index(["policy", "problem"])
    assert tuple(numbers.loc[(policy, problem)])[:2] == expected


def test_names_are_presets_and_the_linear_models_have_their_own():
    everything = tables()
    names = set(everything["preset"])
    assert not any(set(name) & set("[], ()") for name in names)
    assert {"LinGreedy-eps0.01", "LinGreedy-eps0.05"} <= names
    linear_rows = everything["table"].str.startswith("linear")
    shared = set(everything.loc[linear_rows, "preset"]) & set(everything.loc[~linear_rows, "preset"])
    assert shared == {name for name in everything.loc[linear_rows, "preset"] if "@" not in name}
    assert shared <= set(policies.names())  # the exact linear methods and Uniform: one preset each, in both


def test_unknown_sources_and_metrics_that_were_not_published():
    with pytest.raises(UsageError, match="there are paper, paper-linear, short-track"):
        published("other", "cumulative")
    with pytest.raises(UsageError, match="time"):
        published("paper-linear", "time")


@pytest.mark.parametrize(
    ("mean", "sem", "paper_mean", "paper_sem", "expected"),
    [
        (110, 0, 100, 0, True),  # a tenth, exactly
        (1.1, 0, 1.0, 0, True),  # the same, where binary fractions round up
        (110.1, 0, 100, 0, False),
        (90, 0, 100, 0, True),
        (89.9, 0, 100, 0, False),
        (125, 3, 100, 4, True),  # 3·√(9 + 16) + 10 = 25
        (125.1, 3, 100, 4, False),
        (119, math.nan, 100, 3, True),  # a missing error counts as 0: 9 + 10 = 19
        (119.1, math.nan, 100, 3, False),
        (119, 3, 100, math.nan, True),
        (0.0, 0, 0.0, 0, True),
        (0.001, 0, 0.0, 0, False),  # nothing to be a tenth of
        (5, 1, math.nan, math.nan, None),
        (math.nan, 1, 5, 1, None),
    ],
)
def test_the_rule_of_agreement(mean, sem, paper_mean, paper_sem, expected):
    row = pd.DataFrame({"mean": [mean], "sem": [sem], "paper_mean": [paper_mean], "paper_sem": [paper_sem]})
    assert agrees(row).tolist() == [expected]


def test_noise_and_baselines_are_no_agreement():
    rows = pd.DataFrame(
        [
            ("LinPost", 10.0, 0.2, 10.1, 0.2),
            ("LinGreedy", 10.0, 2.5, 14.0, 1.0),  # agrees, but three errors are half of 14
            ("BBB", 10.0, 0.2, 14.0, 0.2),
            ("RMS[training_steps=1]", 10.0, None, 10.0, None),
            ("Uniform", 100.0, 0.1, 100.0, 0.1),
            ("Mine", 10.0, 0.2, None, None),
        ],
        columns=["policy", "mean", "sem", "paper_mean", "paper_sem"],
    )
    found = judged(rows.assign(agrees=agrees(rows)))
    assert found["finding"].tolist() == ["agrees", "noisy", "differs", "agrees", "agrees", None]
    assert found["z"].iloc[1] == pytest.approx(-4 / math.sqrt(7.25))
    assert math.isnan(found["z"].iloc[3])  # no error is known
    assert count_findings(found, without=["Uniform"]) == {"agree": 1, "noisy": 1, "compared": 3}
    assert count_findings(found, readings=True) == {"agree": 1, "noisy": 0, "compared": 1}


def test_published_numbers_stand_beside_ours_in_our_order():
    summary = pd.DataFrame(
        {"policy": ["B", "A", "C", "A[c=1]", "C[c=1]"], "problem": "x", "mean": [1.0, 2.0, 3.0, 4.0, 4.0], "sem": 0.0}
    ).assign(horizon=1)
    paper = pd.DataFrame({"policy": ["A", "B"], "problem": "x", "paper_mean": [4.0, 1.0], "paper_sem": [0.1, 0.1]})
    compared = against(summary, paper.assign(paper_steps=1))
    assert list(compared["policy"]) == list(summary["policy"])
    assert compared["agrees"].tolist() == [True, False, None, True, None]
    assert compared["finding"].tolist() == ["agrees", "differs", None, "agrees", None]
    assert count_findings(compared) == {"agree": 1, "noisy": 0, "compared": 2}
    assert count_findings(compared, readings=True)["compared"] == 1  # A[c=1] is another reading of A


def test_ranks_share_ties_and_skip_missing_cells():
    means = {("A", "x"): 1, ("B", "x"): 2, ("C", "x"): 2, ("D", "x"): 5, ("A", "y"): 9, ("D", "y"): 3}
    summary = pd.DataFrame([(*key, mean) for key, mean in means.items()], columns=["policy", "problem", "mean"])
    found = {(row.policy, row.problem): row.rank for row in ranks(summary).itertuples()}
    assert found == {("A", "x"): 1, ("B", "x"): 2.5, ("C", "x"): 2.5, ("D", "x"): 4, ("A", "y"): 2, ("D", "y"): 1}
    over = mean_ranks(summary, ["x", "y"]).set_index("policy")
    assert over["mean_rank"].to_dict() == {"A": 1.5, "B": 2.5, "C": 2.5, "D": 2.5}
    assert over["problems"].to_dict() == {"A": 2, "B": 1, "C": 1, "D": 2}


def test_the_largest_reward_is_ranked_first():
    rows = [("A", "x", 1.0, "reward"), ("B", "x", 3.0, "reward"), ("C", "x", 3.0, "reward")]
    found = ranks(pd.DataFrame(rows, columns=["policy", "problem", "mean", "metric"]))
    assert found.set_index("policy")["rank"].to_dict() == {"A": 3, "B": 1.5, "C": 1.5}


def test_published_means_give_the_published_mean_ranks():
    means = published("paper", "cumulative").rename(columns={"paper_mean": "mean"})
    ours = mean_ranks(means).set_index("policy")
    everything = tables()
    theirs = everything[everything["metric"] == "mean_rank"].set_index("preset")["mean"]
    assert len(theirs) == 53
    assert set(ours.index) == set(theirs.index)
    difference = (ours["mean_rank"] - theirs).abs()
    assert difference.max() <= 0.1 + 1e-9, difference.nlargest(3)
    assert ours.loc["GP", "problems"] == len(RANKED_PROBLEMS) - 2
