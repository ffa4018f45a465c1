"""Verdicts: what may be claimed, and that the old false headlines cannot come back."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from showdown.analysis.compare_problems import compare_with_best
from showdown.analysis.compare_ranks import problems_needed, signed_rank
from showdown.analysis.compare_trials import difference, interval
from showdown.analysis.head_to_head import head_to_head
from showdown.analysis.judge import judge, verdict
from showdown.analysis.ranks import coverage


@pytest.fixture
def drawn(frame_of):
    """Call with {(policy, problem): mean}: 12 trials with luck that all policies of a trial share, and noise of 1."""

    def make(means: dict, trials: int = 12, noise: float = 1.0):
        generator = np.random.default_rng(5)
        problems = dict.fromkeys(problem for _, problem in means)
        luck = {problem: 20 * generator.standard_normal(trials) for problem in problems}
        return frame_of(
            {
                (policy, problem): list(mean + luck[problem] + noise * generator.standard_normal(trials))
                for (policy, problem), mean in means.items()
            }
        )

    return make


def test_a_clear_winner_is_named_with_its_interval(drawn):
    found = verdict(drawn({("Uniform", "x"): 200, ("A", "x"): 100, ("B", "x"): 103}))
    assert (found.best, found.tied, found.sure) == ("A", (), "very sure")
    assert found.low < found.value < found.high
    assert found.unit == "% of Uniform"
    assert [rival.policy for rival in found.rivals] == ["B"]  # Uniform is no rival
    assert verdict(drawn({("Uniform", "x"): 200, ("A", "x"): 100})).sure == "alone"
    assert [reference.policy for reference in found.references] == ["Uniform"]
    assert found.sentence.startswith("A has the lowest cumulative regret (")
    assert found.lines[0].startswith("On x: A has the lowest cumulative regret (")
    assert "Uniform" not in found.sentence.replace("% of Uniform", "")


def test_false_claim_of_a_three_way_tie(drawn):
    """The lowest mean of three that do not differ is no winner: all three are named, and the fourth is behind."""
    found = verdict(drawn({("A", "x"): 100, ("B", "x"): 100.1, ("C", "x"): 99.9, ("D", "x"): 110}))
    assert sorted(found.ties) == ["A", "B", "C"]
    assert found.sure == "a tie"
    assert found.p_value > 0.05
    assert found.lines[0].startswith("On x: no single winner: ")
    assert all(name in found.sentence for name in "ABC")
    assert "winner" not in found.sentence.removeprefix("No single winner")


def test_false_claim_of_unequal_coverage(drawn):
    """A policy that played the one problem it is good at has no better mean rank than those that played all six."""
    names = [f"p{number}" for number in range(6)]
    means = {("A", name): 100 for name in names} | {("B", name): 120 for name in names} | {("Lucky", "p0"): 50}
    found = verdict(drawn(means))
    assert found.best == "A"
    assert found.left_out == ("Lucky",)
    assert found.coverage == {"A": 6, "B": 6, "Lucky": 1}
    assert "Lucky" not in found.sentence


def test_false_claim_of_the_best_mean_rank_at_p_028(drawn):
    """The old page crowned the lowest mean rank where Friedman's test said p = 0.28."""
    orders = ["ABC", "ABC", "ABC", "ACB", "BAC", "CAB", "BCA"]  # sums of ranks 11, 14, 17: 606/7 − 84 = 2.571
    means = {(name, f"p{i}"): 100 + 10 * order.index(name) for i, order in enumerate(orders) for name in "ABC"}
    found = verdict(drawn(means))
    assert found.test == "Friedman's test"
    assert found.p_value == pytest.approx(math.exp(-2.571 / 2), abs=0.001)
    assert set(found.tied) == {"B", "C"}
    assert found.sentence.startswith("No single winner: A, ")
    assert "p = 0.28" in found.lines[1]
    assert "the ranks show no difference between the methods" in found.lines[1]


def test_many_problems_with_one_order_give_a_winner(drawn):
    means = {(name, f"p{i}"): 100 + 10 * "ABC".index(name) for i in range(12) for name in "ABC"}
    found = verdict(drawn(means))
    assert (found.best, found.tied, found.value, found.unit) == ("A", (), 1.0, "mean rank")
    assert found.test == "Wilcoxon's test"


def test_a_winner_over_problems_does_not_depend_on_how_many_poor_methods_were_played(drawn):
    """Tests of mean ranks do: with many others, a policy that is second everywhere could not be told from the first."""
    names = [f"p{i}" for i in range(12)]
    means = {(f"M{number}", name): 100 + 10 * number for number in range(12) for name in names}
    found = verdict(drawn(means))
    assert (found.best, found.tied) == ("M0", ())
    assert found.p_value == pytest.approx(11 * 2 / 2**12)


def test_the_test_over_problems_is_of_the_common_unit_where_there_is_one(drawn):
    """Ahead by a hair on nine problems and far behind on three is no win, though nine ranks of twelve are won."""
    means = {("Uniform", f"p{i}"): 1000 for i in range(12)} | {("A", f"p{i}"): 100 for i in range(12)}
    means |= {("B", f"p{i}"): 30 if i < 3 else 110 for i in range(12)}
    found = verdict(drawn(means)).new_problem
    assert (found.best, found.tied) == ("A", ("B",))
    assert found.p_value == pytest.approx(stats.wilcoxon([-70.0] * 3 + [10.0] * 9, method="asymptotic").pvalue, abs=0.1)


def test_the_signed_rank_test_is_scipys_and_exact_with_ties():
    generator = np.random.default_rng(2)
    for count in (1, 2, 5, 9, 20):
        drawn = generator.standard_normal(count) + 0.3
        assert signed_rank(drawn) == pytest.approx(stats.wilcoxon(drawn).pvalue)
    tied = np.array([1.0, 1, 2, 3, -1, 2])
    exact = stats.PermutationMethod(n_resamples=100)
    assert signed_rank(tied) == pytest.approx(stats.wilcoxon(tied, method=exact).pvalue)
    assert signed_rank(np.zeros(4)) == 1.0
    assert signed_rank(np.array([0.0, 1, 1, 1, 1, 1, 1])) == pytest.approx(2 / 2**6)  # what is equal says nothing


def test_the_true_best_over_problems_is_rarely_counted_as_behind(frame_of):
    """Whoever is picked as the best of eight equal policies: a given one is called behind in at most 5 % of studies."""
    generator = np.random.default_rng(4)
    excluded = 0
    for _ in range(60):
        values = generator.standard_normal((8, 12, 1)) + 0.1 * generator.standard_normal((8, 12, 3))
        cells = {(f"M{i}", f"p{j}"): list(100 + values[i, j]) for i in range(8) for j in range(12)}
        found = {rival.policy: rival for rival in verdict(frame_of(cells)).rivals}
        excluded += "M0" in found and found["M0"].behind
    assert excluded <= 3


def test_too_few_problems_for_so_many_methods_is_said(drawn):
    means = {(f"M{number}", name): 100 + 10 * number for number in range(20) for name in ("x", "y", "z")}
    found = judge(drawn(means), {})
    assert len(found.tied) == 19
    assert "3 problems cannot tell 20 methods apart by their ranks; 10 or more may" in found.lines[1]
    assert [problems_needed(count) for count in (2, 10, 31)] == [6, 9, 11]


def test_two_problems_never_give_a_winner(drawn):
    means = {(name, problem): 100 + 50 * "AB".index(name) for problem in "xy" for name in "AB"}
    found = verdict(drawn(means))
    assert (found.best, found.tied, found.test) == ("A", ("B",), "Wilcoxon's test")


def test_ranks_and_per_cent_have_two_decimals(drawn):
    several = verdict(drawn({(name, f"p{i}"): 100 + 10 * "ABC".index(name) for i in range(3) for name in "ABC"}))
    assert "(1.00, 95 % interval 1.00 to " in several.sentence
    one = verdict(drawn({("Uniform", "x"): 300, ("A", "x"): 100, ("B", "x"): 200}))
    assert re.search(r"\(33\.\d\d % of Uniform, 95 % interval \d\d\.\d\d to \d\d\.\d\d\)", one.sentence)


def test_shares_have_four_decimals(drawn):
    frame = drawn({("A", "x"): 100, ("B", "x"): 50}).assign(accuracy=lambda rows: 0.5 + (rows["policy"] == "A") / 4)
    assert "(0.7500, 95 % interval 0.7500 to 0.7500)" in verdict(frame, "accuracy").sentence


def test_an_interval_of_a_share_ends_at_0_and_1():
    assert interval(pd.Series([0.7, 0.9]), is_share=True) == (0.0, 1.0)
    assert interval(pd.Series([0.7, 0.9]))[1] > 1


def test_two_trials_give_a_best_and_no_p_value(frame_of):
    """Their spread may be tiny by luck: p would be below 0.001, or 0 where both trials differ by the same."""
    for behind in ([110.0, 110.0], [110.0, 110.001]):
        frame = frame_of({("A", "x"): [100.0, 100.0], ("B", "x"): behind, ("Uniform", "x"): [200.0, 201.0]})
        found = verdict(frame)
        assert (found.best, found.tied, found.sure, found.p_value) == ("A", (), "too few trials", None)
        assert found.beats_references
        assert found.sentence.endswith("ahead of the other method (too few trials for a p-value).")
        pair = head_to_head(frame, {}, "A", "B")
        assert pair.problems[0].p_value is None
        assert "better in 2 of 2 trials; too few for a p-value" in pair.sentence
    tied = verdict(frame_of({("A", "x"): [100.0, 90.0], ("B", "x"): [95.0, 100.0]}))
    assert (tied.sure, tied.p_value) == ("a tie", None)
    third = verdict(frame_of({("A", "x"): [100.0, 100.0, 100.0], ("B", "x"): [110.0, 110.001, 110.0]}))
    assert (third.sure, third.p_value < 0.001) == ("very sure", True)


def test_one_trial_gives_no_best(frame_of):
    found = verdict(frame_of({("A", "x"): [1], ("B", "x"): [5]}))
    assert found.best is None
    assert found.ties == ()
    assert found.sentence == "No verdict: a single trial gives no interval."


def test_time_gives_no_best(drawn):
    assert verdict(drawn({("A", "x"): 1, ("B", "x"): 2}), "time").best is None


def test_a_method_that_is_no_better_than_chance_is_not_praised(drawn):
    found = verdict(drawn({("Uniform", "x"): 100, ("A", "x"): 100, ("B", "x"): 110}))
    assert not found.beats_references
    assert found.sentence.endswith("It is not clearly better than choosing at random.")


def test_larger_rewards_win(drawn):
    found = verdict(drawn({("A", "x"): 100, ("B", "x"): 110}), "reward")  # rewards are 1000 minus these
    assert (found.best, found.smaller_is_better) == ("A", False)
    assert found.rivals[0].difference > 0
    assert "the highest mean reward" in found.sentence


def test_the_cheapest_of_a_tie_is_named_unless_times_cannot_be_compared(drawn):
    frame = drawn({("A", "x"): 100, ("B", "x"): 100.1, ("C", "x"): 150})
    seconds = {("A", "x"): 2e-3, ("B", "x"): 5e-6, ("C", "x"): 1e-9}
    found = verdict(frame, seconds=seconds)
    assert (found.cheapest, found.cheapest_reason) == ("B", "5 µs per step")
    assert found.sentence.endswith("The cheapest of these is B (5 µs per step).")
    found = verdict(frame, seconds=seconds, no_times="two kinds of hardware")
    assert (found.cheapest, found.cheapest_reason) == (None, "two kinds of hardware")


def test_a_verdict_is_json(drawn):
    found = json.loads(json.dumps(verdict(drawn({("A", "x"): 1, ("B", "x"): 2})).to_json(), allow_nan=False))
    assert found["best"] == "A"
    assert found["rivals"][0]["policy"] == "B"


def test_the_true_best_is_rarely_counted_as_behind():
    """Of ten equal policies, the chance that a given one is excluded is far below 5 %, whoever was picked as best."""
    generator = np.random.default_rng(1)
    excluded = 0
    for _ in range(200):
        values = pd.DataFrame(generator.standard_normal((8, 10)), columns=list("ABCDEFGHIJ"))
        _, others = compare_with_best([values], smaller_is_better=True)
        excluded += "A" in others and others["A"].told_apart
    assert excluded <= 10


def test_coverage_is_the_largest_complete_table_over_half_of_the_problems(frame_of):
    one = [1.0, 2.0]
    full = frame_of({(name, problem): one for name in "AB" for problem in "xy"} | {("C", "x"): one})
    assert coverage(full)[:2] == (["A", "B"], ["x", "y"])
    ragged = frame_of({("A", p): one for p in "wxyz"} | {("B", p): one for p in "xyz"} | {("C", "w"): one})
    assert coverage(ragged)[:2] == (["A", "B"], ["x", "y", "z"])
    assert coverage(frame_of({("A", "x"): one, ("B", "y"): one})).problems == []
    # eight methods on two of six problems fill 16 cells, three on five of them 15: two problems are too few to rank on
    many = {(f"M{i}", p): one for i in range(5) for p in "uv"} | {(name, p): one for name in "ABC" for p in "uvwxy"}
    found = coverage(frame_of({**many, ("A", "z"): one}))
    assert found[:2] == (["A", "B", "C"], list("uvwxy"))
    assert len(found.left_out) == 5
    # and two methods that alone played all six do not push out the others
    assert len(coverage(frame_of({**many, ("A", "z"): one, ("B", "z"): one})).policies) == 3
    # what two methods have in common counts, though neither played just that
    crossed = frame_of({("A", p): one for p in "wxy"} | {("B", p): one for p in "xyz"})
    assert coverage(crossed)[:2] == (["A", "B"], ["x", "y"])


def test_the_difference_is_the_paired_test_or_welchs_where_no_trial_is_shared():
    generator = np.random.default_rng(0)
    one, other = pd.Series(generator.standard_normal(9)), pd.Series(generator.standard_normal(9) + 0.5)
    assert difference(one, other).p_value == pytest.approx(stats.ttest_rel(one, other).pvalue)
    apart = pd.Series(generator.standard_normal(5), index=range(20, 25))
    assert difference(one, apart).p_value == pytest.approx(stats.ttest_ind(one, apart, equal_var=False).pvalue)
    # thirty trials against ten of the same, with luck that they share: pairing still helps
    luck = 10 * generator.standard_normal(30)
    many, few = (
        pd.Series(luck + generator.standard_normal(30)),
        pd.Series(luck + 3 + generator.standard_normal(30))[:10],
    )
    found = difference(few, many)
    assert found.trials == 10
    assert found.p_value < stats.ttest_ind(few, many, equal_var=False).pvalue
