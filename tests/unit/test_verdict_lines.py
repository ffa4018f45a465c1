"""The three lines of a verdict: sizes on these problems, what a new one may bring, the worst case. No false claim."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from showdown.analysis.build_table import build_table
from showdown.analysis.compare_problems import compare_with_best, difference_over, mean_over, reduction
from showdown.analysis.head_to_head import head_to_head
from showdown.analysis.judge import verdict
from showdown.analysis.overview import overview
from showdown.analysis.selection import select
from showdown.analysis.summary import summarise
from showdown.analysis.table import TableRequest
from showdown.report.formats import json as json_format
from showdown.report.formats import text
from showdown.report.page.compact import rank_test

PROBLEMS = ["wheel-0.5", "wheel-0.9", "wheel-0.99", "linear", "sparse-linear", "digits"]
MEANS = {  # in % of Uniform, as `make run` finds them: the fast one is worse than chance on two problems
    "Council-fast": [2, 8, 40, 3, 4, 16],
    "LinFullPost": [3, 12, 62, 6, 6, 20],
    "LinGreedy": [45, 103, 104, 4, 3, 18],
    "LinPost": [4, 14, 64, 7, 5, 21],
}


@pytest.fixture
def played(frame_of):
    """A store such as `make run` makes: six problems, twenty trials with shared luck. `means` changes methods."""

    def make(means=None, trials: int = 20, problems=PROBLEMS, noise: float = 0.5):
        generator = np.random.default_rng(3)
        cells = {}
        for number, problem in enumerate(problems):
            luck = generator.standard_normal(trials)
            for name, values in {"Uniform": [100] * len(problems), **(means or MEANS)}.items():
                own = values[number] + luck + noise * generator.standard_normal(trials)
                cells[name, problem] = list(10 * np.maximum(own, 0.1))
        return frame_of(
            cells,
            seconds={"LinGreedy": 0.1, "LinPost": 0.5, "LinFullPost": 1.0, "Council-fast": 9.0}
            | dict.fromkeys([*(means or {}), "Uniform"], 2.0),
        )

    return make


def seconds_of(frame) -> dict[tuple[str, str], float]:
    cells = frame.drop_duplicates(["policy", "problem"])
    return {(row.policy, row.problem): row.run_seconds for row in cells.itertuples()}


def test_who_is_ahead_on_these_problems_is_said_with_sizes(played):
    """`make run` said "No single winner … p = 1", where one method has a third less regret than the next."""
    found = verdict(played())
    assert (found.best, found.tied, found.unit) == ("Council-fast", (), "% of Uniform")
    assert found.value == pytest.approx(np.mean(MEANS["Council-fast"]), abs=0.5)
    assert found.low < found.value < found.high < found.value + 1
    assert (found.lead.over, found.lead.relative) == ("LinFullPost", True)
    assert found.lead.low < found.lead.amount < found.lead.high
    assert found.lead.amount == pytest.approx(100 * (1 - 73 / 109), abs=2)
    first = found.lines[0]
    assert first.startswith("On these 6 problems: Council-fast has the lowest cumulative regret (12.")
    assert "% less than LinFullPost (interval 3" in first
    assert found.short.startswith("Council-fast won on these 6 problems, 3")
    assert "% less cumulative regret than LinFullPost (95 % interval 3" in found.short
    assert "p = 1" not in first


def test_a_new_problem_is_another_question(played):
    """Six problems cannot tell four methods apart by rank, whatever they say about themselves; seven could."""
    found = verdict(played())
    assert (found.new_problem.problems, found.new_problem.needed) == (6, 7)
    assert found.lines[1].startswith(
        "On a new problem: 6 problems cannot tell 4 methods apart by their ranks; 7 or more may. "
    )
    assert verdict(played(problems=["digits"])).lines[1] == "On a new problem: one problem says nothing about another."


def test_how_many_problems_it_would_take_is_said_of_a_named_pair(played):
    generator = np.random.default_rng(0)
    names = [f"p{number}" for number in range(12)]
    base = generator.uniform(20, 60, 12)
    means = {"A": base, "B": base + generator.normal(3, 6, 12), "C": base + 40}
    found = verdict(played(means, problems=names)).new_problem
    assert found.pair == ("A", "B")
    assert found.tied == ()  # on these problems it is worse
    assert 12 < found.enough <= 200
    said = verdict(played(means, problems=names)).lines[1]
    assert "ahead of 1 of the 2 others; it may not be ahead of B (A against B, Wilcoxon's test, p = " in said
    assert f"about {found.enough} problems like these would tell the two apart" in said


def test_the_worst_case_names_the_largest_regret_and_who_fails_where(played):
    found = verdict(played())
    assert found.worst_case.problem == "wheel-0.99"
    assert found.worst_case.largest == pytest.approx(40, abs=1)
    greedy = next(one for one in found.worst_case.failures if one.policy == "LinGreedy")
    assert set(greedy.above) == {"wheel-0.9", "wheel-0.99"}
    assert "Council-fast's largest regret is 40." in found.lines[2]
    assert "LinGreedy (above Uniform on wheel-0.9 and wheel-0.99" in found.lines[2]
    json.dumps(found.to_json(), allow_nan=False)


def test_stuck_trials_of_the_winner_are_said(frame_of):
    cells = {("Uniform", "x"): [100.0] * 10, ("A", "x"): [1.0] * 9 + [90.0], ("B", "x"): [60.0] * 10}
    cells |= {(name, "y"): values for (name, _), values in list(cells.items())}
    assert "1 of 10 trials stuck on x and 1 of 10 trials stuck on y" in verdict(frame_of(cells)).lines[2]


def test_the_cheapest_is_never_a_method_that_fails_somewhere(played):
    """ "The cheapest of these is LinGreedy" named a method that is worse than random on two of six problems."""
    tied = {"A": [20] * 6, "LinGreedy": [2, 2, 2, 2, 2, 110.0], "LinPost": [20] * 6}
    frame = played(tied, noise=8.0)
    found = verdict(frame, seconds=seconds_of(frame))
    assert set(found.ties) == {"A", "LinGreedy", "LinPost"}
    assert found.fails("LinGreedy")
    assert found.cheapest not in (None, "LinGreedy")
    assert f"The cheapest of these that fails nowhere is {found.cheapest}" in found.sentence
    everyone = {name: [2, 2, 2, 2, 2, 110.0] for name in ("LinGreedy", "LinPost")}
    frame = played(everyone, noise=8.0)
    found = verdict(frame, seconds=seconds_of(frame))
    assert (len(found.ties), found.cheapest) == (2, None)
    assert "cheapest" not in found.sentence


def test_a_p_value_names_its_pair(played):
    found = verdict(played({"A": [20] * 6, "B": [20.1] * 6, "C": [40] * 6}, noise=4.0))
    assert found.tied
    assert found.pair == (found.best, found.tied[0])
    assert f"cannot be told apart ({found.best} against {found.tied[0]}, p = " in found.sentence


@pytest.mark.parametrize("problems", [["digits"], PROBLEMS])
def test_what_compare_calls_worse_is_never_among_the_ties(played, problems):
    """With many methods, a correction for their number made a tie of a method that `compare` called worse."""
    for step in (0.2, 0.4, 0.6, 0.8):
        means = {f"M{number}": [20 + step * (number > 0) + number % 2 / 9] * len(problems) for number in range(12)}
        frame = played(means, problems=problems, trials=8)
        found = verdict(frame)
        for name in (*found.tied, *(found.new_problem.tied if found.new_problem else ())):
            pair = head_to_head(frame, {}, found.best, name)
            told = pair.problems[0].better if len(problems) == 1 else (pair.low > 0 or pair.high < 0) or None
            assert told is None, (name, pair.sentence)


def test_between_a_tie_and_clearly_behind_is_said_to_be_so(played):
    means = {"A": [20] * 6} | {f"M{number}": [20.35] * 6 for number in range(9)}
    found = verdict(played(means, trials=10))
    doubtful = [rival.policy for rival in found.rivals if not rival.behind and not rival.is_tied]
    assert doubtful
    assert not set(doubtful) & set(found.ties)
    if not found.tied:
        assert found.sure == "fairly sure"
        assert "only where the two are compared alone" in found.sentence
        assert found.short.startswith("A leads on these 6 problems, ")
        assert ", not clearly ahead of M" in found.short


def test_ranks_are_the_same_in_the_verdict_and_the_table(played):
    frame = played()
    table = build_table(select(frame), TableRequest(rank=True, sort="rank"))
    shown = table.rows[table.rows["problem"] == "mean_rank"].set_index("policy")["mean"]
    assert "Uniform" not in shown
    assert table.policies[-1] == "Uniform"
    assert shown["Council-fast"] == pytest.approx(verdict(frame).new_problem.rank)
    assert not any(table.best["mean_rank"])  # six problems say nothing about ranks, so none is marked as the best
    below = text.write(table).split("cannot be told from the best\n")[1].splitlines()
    assert [line.split(":")[0] for line in below[:3]] == ["On these 6 problems", "On a new problem", "Worst case"]
    assert json_format.value(table)["verdict"]["lines"] == below[:3]


def test_no_bars_of_critical_differences_where_friedmans_test_does_not_reject(frame_of):
    orders = ["ABC", "ABC", "ABC", "ACB", "BAC", "CAB", "BCA"]
    cells = {(name, f"p{i}"): [100.0 + 10 * order.index(name)] * 2 for i, order in enumerate(orders) for name in "ABC"}
    found = rank_test(summarise(frame_of(cells), absolute=True))
    assert found["p_value"] == pytest.approx(0.28)
    assert (found["groups"], found["rejects"]) == ([], False)
    clear = {(name, f"p{i}"): [100.0 + 10 * "ABC".index(name)] * 2 for i in range(12) for name in "ABC"}
    assert rank_test(summarise(frame_of(clear), absolute=True))["rejects"]


def test_a_metric_without_a_common_unit_says_so(played):
    found = verdict(played(), "reward")
    assert found.unit == "mean rank"
    assert found.lines[0] == "On these 6 problems: mean reward has no common unit here, so only ranks are compared."


def test_fiellers_interval_excludes_no_reduction_exactly_where_the_difference_is_clear():
    generator = np.random.default_rng(1)
    for shift in np.linspace(0, 3, 40):
        luck = 10 + generator.standard_normal((3, 6))
        ones = [pd.Series(values + generator.standard_normal(6)) for values in luck]
        others = [pd.Series(values + shift + generator.standard_normal(6)) for values in luck]
        amount, low, high = reduction(ones, others)
        assert low < amount < high
        assert difference_over(ones, others).told_apart == (low > 0 or high < 0)


def test_intervals_of_a_mean_over_problems_hold_the_truth_as_often_as_they_say():
    """Five trials on three problems of different noise: nineteen of twenty intervals, and not fewer."""
    generator = np.random.default_rng(2)
    held = shares = 0
    for _ in range(400):
        ones, others = (
            [pd.Series(mean + noise * generator.standard_normal(5)) for mean, noise in ((10, 1), (20, 4), (60, 2))]
            for _ in range(2)
        )
        found = mean_over(ones)
        held += found.low <= 30 <= found.high
        _, low, high = reduction(ones, others)
        shares += low <= 0 <= high
    assert 370 <= held <= 395
    assert 370 <= shares <= 395


def test_one_problem_is_compared_as_before():
    generator = np.random.default_rng(0)
    values = pd.DataFrame(generator.standard_normal((8, 3)) + np.arange(3), columns=list("ABC"))
    best, others = compare_with_best([values], smaller_is_better=True)
    assert others["C"].alone == pytest.approx(stats.ttest_rel(values["C"], values[best]).pvalue)


def test_the_overview_has_the_numbers_of_the_verdict(played):
    frame = played()
    found, said = overview(frame, "cumulative"), verdict(frame)
    best = found.methods[0]
    assert (best.policy, best.improvement, found.problems) == (said.best, None, 6)
    assert best.aggregate == pytest.approx((said.value, said.low, said.high))
    others = {method.policy: method.improvement for method in found.methods[1:]}
    assert set(others) == set(MEANS) - {said.best}
    assert all(one.low <= one.mean <= one.high <= 1 for one in others.values())
    assert others["LinPost"].mean > 0.9
    assert others["LinGreedy"].mean < 0.95  # it is better on two of six
    assert best.profile[-1] == 1.0
    assert list(best.profile) == sorted(best.profile)
    assert overview(frame, "reward") is None  # there is no common unit
