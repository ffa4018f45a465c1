"""`showdown compare A B`: differences, intervals, wins, ties and losses on a store written by hand."""

from __future__ import annotations

import numpy as np
import pytest

NOISE = np.random.default_rng(3).standard_normal((4, 12))


@pytest.fixture
def results(stored, tmp_path):
    """A is better than B on four problems, worse on one, and on one they do not differ."""
    gaps = {"wheel-0.5": 20, "wheel-0.7": 30, "wheel-0.9": 20, "wheel-0.95": 25, "linear": -15, "sparse-linear": 0}
    cells = {}
    for problem, gap in gaps.items():
        luck = 10 * NOISE[0]
        cells["LinFullPost", problem] = 100 + luck + NOISE[1]
        cells["LinGreedy", problem] = 100 + gap + luck + NOISE[2]
        cells["Uniform", problem] = 1000 + luck
    cells["LinPost", "wheel-0.5"] = 50 + NOISE[3]
    return stored(tmp_path / "results", cells)


def test_two_policies_problem_by_problem_and_over_all(showdown, results):
    found = showdown("compare", "LinFullPost", "LinGreedy", str(results), "--json").json
    assert (found["wins"], found["ties"], found["losses"]) == (4, 1, 1)
    parts = {part["problem"]: part for part in found["problems"]}
    assert parts["wheel-0.5"]["difference"] == pytest.approx(-2, abs=0.2)  # % of Uniform's 1000
    assert parts["wheel-0.5"]["low"] < -2 < parts["wheel-0.5"]["high"] < 0
    assert (parts["wheel-0.5"]["wins"], parts["wheel-0.5"]["losses"], parts["wheel-0.5"]["better"]) == (
        *(12, 0),
        "LinFullPost",
    )
    assert parts["linear"]["better"] == "LinGreedy"
    assert parts["sparse-linear"]["better"] is None
    assert found["low"] < found["mean"] < found["high"] < 0.2
    assert found["sentence"].endswith("better on 4, worse on 1 and not to be told apart on 1 of 6 problems.")


def test_the_text_names_the_better_one_and_ends_with_a_sentence(showdown, results):
    lines = showdown("compare", "LinFullPost", "LinGreedy", str(results), "--problem", "wheel-0.7").out.splitlines()
    assert (
        lines[0] == "cumulative regret, % of Uniform: LinFullPost minus LinGreedy, paired over trials (less is better)"
    )
    assert lines[4].startswith("wheel-0.7  ")
    assert lines[4].endswith("12/0/0  LinFullPost")
    assert "LinFullPost is better than LinGreedy on wheel-0.7 (LinFullPost: -3" in lines[6]


def test_problems_come_in_the_order_of_tables_and_the_choice_of_the_pair_is_mentioned(showdown, results):
    lines = showdown("compare", "LinFullPost", "LinGreedy", str(results)).out.splitlines()
    named = [line.split()[0] for line in lines[4:10]]
    headings = showdown("table", str(results), "--problems", ",".join(named)).out
    assert named[0] == "linear"  # which was played last
    assert sorted(named, key=headings.index) == named
    assert "believe the verdict of `showdown table`" in " ".join(lines[-2:])


def test_more_reward_is_better(showdown, results):
    found = showdown("compare", "LinFullPost", "LinGreedy", str(results), "--metric", "reward", "--json").json
    assert (found["wins"], found["ties"], found["losses"]) == (4, 1, 1)
    assert found["mean"] is None  # rewards of different problems have no common unit


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("LinFullPost", "LinGredy"), "did you mean 'LinGreedy'"),
        (("LinPost", "LinPost"), "LinPost cannot be compared with itself"),
        (("LinPost", "LinGreedy", "--problem", "linear"), "were not played on the same problem"),
        (("LinFullPost", "LinGreedy", "--metric", "time"), "no interval to compare by"),
        (("LinFullPost", "LinGreedy", "--metric", "speed"), "--metric is one of cumulative"),
    ],
)
def test_wrong_requests_are_one_sentence(showdown, results, arguments, sentence):
    first, second, *options = arguments
    answer = showdown("compare", first, second, str(results), *options)
    assert answer.code == 2
    assert sentence in answer.err


def test_a_comparison_fits_eighty_columns(showdown, results, monkeypatch):
    wide = showdown("compare", "LinFullPost", "LinGreedy", str(results)).out
    assert "won/tied/lost" in wide
    monkeypatch.setattr("showdown.cli.console.width", lambda: 80)
    narrow = showdown("compare", "LinFullPost", "LinGreedy", str(results)).out
    assert max(map(len, narrow.splitlines())) <= 80
    assert all(word in narrow for word in ("difference", "95 % interval", "better"))
