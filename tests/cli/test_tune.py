"""`showdown tune`, the preset that it writes, and `showdown study tuned`; one small program serves all."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace

import pytest

from showdown.analysis.compare_trials import BETTER, NO_DIFFERENCE, WORSE
from showdown.api.tuning_lines import _judged
from showdown.policies import policies
from showdown.tuning.fresh_choice import ChosenOnProblem, TuningResult, _compared

SIZE = ["--horizon", "60", "--trials", "2", "--batch", "3", "--budget", "3", "--no-halving"]


@pytest.fixture(autouse=True)
def forget_tuned(monkeypatch):
    """A preset that a test loads is gone after it."""
    policies.names()
    monkeypatch.setattr(policies, "_entries", dict(policies._entries))


def test_what_was_tuned_can_be_loaded_and_played(showdown):
    answer = showdown("tune", "LinPost", "--on", "wheel-0.5", *SIZE, "--final-trials", "2", "--json")
    assert answer.code == 0, answer.err
    told = answer.json
    assert (told["name"], told["candidates"], len(told["problems"])) == ("LinPost@wheel-0.5", 3, 1)
    assert told["verdict"] == told["problems"][0]["verdict"]
    assert told["verdict"] in (BETTER, WORSE, NO_DIFFERENCE)
    preset = Path(told["preset"])
    with preset.with_suffix(".csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["status"] for row in rows] == ["done"] * 3
    assert float(rows[0]["prior_precision"]) == 0.25
    listed = showdown("show", "LinPost@wheel-0.5", "--load", str(preset))
    assert listed.code == 0
    assert str(told["candidate"]["prior_precision"]) in listed.out
    again = showdown("tune", "LinPost", "--on", "wheel-0.5", *SIZE, "--final-trials", "2")
    assert "3 candidates of LinPost on wheel-0.5" in again.out
    assert "95 % interval" in again.out
    page = showdown("report", "results", "--out", "report.html")
    assert page.code == 0, page.err
    assert "LinPost@wheel-0.5" in Path("report.html").read_text()


def test_a_study_tunes_on_one_problem_and_reports_on_others(showdown):
    asked = ["study", "tuned", "--policies", "LinPost", "--tune-on", "wheel-0.5", *SIZE, "--report-trials", "2"]
    answer = showdown(*asked, "--report-on", "wheel-0.5,wheel-0.9", "--json")
    assert answer.code == 0, answer.err
    kinds = {(row["configuration"], row["problem"]): row["kind"] for row in answer.json}
    assert len(kinds) == 8  # the default, -MR, -SL and ours on two problems
    assert kinds["LinPost", "wheel-0.9"] == "default"
    assert kinds["LinPost@wheel-0.5", "wheel-0.5"] == "own"
    assert kinds["LinPost@wheel-0.5", "wheel-0.9"] == kinds["LinPost-MR", "wheel-0.5"] == "transferred"
    told = showdown(*asked, "--report-on", "wheel-0.5,wheel-0.9")
    assert "LinPost@wheel-0.5" in told.out
    assert "elsewhere better on" in told.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["LinPost", "--on", "wheel-0.5", "--budget", "ten"], "a budget is a number of candidates or a time"),
        (["LinPost", "--on", "wheel-0.5", "--sampler", "optuna"], "no sampler is called 'optuna'"),
        (["LinPost", "--on", "wheel-0.5", "--objective", "regret"], "objective must be one of"),
        (["LinPost", "--on", "wheel-0.5", "--fields", "speed"], "no field 'speed'"),
        (["Uniform", "--on", "wheel-0.5"], "no float to tune"),
        (["LinPost", "--on", ","], "no problem to tune on"),
        (["LinPost", "--on", "whel"], "no problem is called 'whel'"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_one_sentence(showdown, arguments, sentence):
    answer = showdown("tune", *arguments)
    assert answer.code == 2
    assert sentence in answer.err


def test_a_file_of_presets_that_holds_none_is_one_sentence(showdown):
    for text, sentence in [
        ("policies = 3", "holds no presets"),
        ("[policy.Mine]\nfields = {}", "must have a base"),
        ('[policy.Mine]\nbase = "LinPost"\n[policy.Mine.fields]\nspeed = 3', "has no field 'speed'"),
        ("[policy", "cannot be loaded"),
    ]:
        Path("mine.toml").write_text(text)
        answer = showdown("list", "policies", "--load", "mine.toml")
        assert answer.code == 2
        assert sentence in answer.err
    assert "no file" in showdown("list", "policies", "--load", "other.toml").err


@pytest.mark.parametrize(
    ("verdicts", "says", "overall"),
    [
        ({"a": BETTER, "b": NO_DIFFERENCE}, "better than LinPost on a", BETTER),
        ({"a": BETTER, "b": WORSE}, "better than LinPost on a, worse on b", "mixed"),
        ({"a": WORSE, "b": NO_DIFFERENCE}, "worse than LinPost on a and clearly better nowhere", WORSE),
        ({"a": NO_DIFFERENCE}, "it cannot be told from LinPost", NO_DIFFERENCE),
    ],
)
def test_the_winner_of_a_search_is_judged_by_fresh_episodes(verdicts, says, overall):
    request = SimpleNamespace(space=SimpleNamespace(name="LinPost"))
    rows = tuple(ChosenOnProblem(name, 0, 0, 0, 0, 0, 1, 2, verdict) for name, verdict in verdicts.items())
    result = TuningResult({}, "", False, rows, ())
    assert _judged(request, result).startswith(says)
    assert result.verdict == overall


def test_more_reward_is_better_and_more_regret_is_worse():
    less, more = [1.0, 2.0, 3.0, 4.0], [11.0, 12.1, 13.0, 14.0]
    regret = _compared("a", more, less, 1)
    assert (regret.verdict, regret.wins, regret.difference > 9) == (WORSE, 0, True)
    reward = _compared("a", [-value for value in more], [-value for value in less], -1)  # losses
    assert (reward.verdict, reward.wins, reward.difference, reward.low) == (
        BETTER,
        4,
        regret.difference,
        regret.low,
    )
    assert _compared("a", less, less, 1).verdict == NO_DIFFERENCE
