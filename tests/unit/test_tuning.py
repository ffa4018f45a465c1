"""Tuning: spaces, samplers, batches and their halving, and a history that a kill does not change."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from showdown.analysis.compare_trials import Difference
from showdown.basics.errors import UsageError
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.bench.store import Store
from showdown.metrics import per_checkpoint, per_trial
from showdown.play.simulate import Outcome
from showdown.policies import policies
from showdown.protocol.problem import ProblemSpec
from showdown.tuning import play_candidates
from showdown.tuning.history import TriedCandidate, TuningHistory
from showdown.tuning.play_candidates import Place, by_engine, combined
from showdown.tuning.request import TuningBudget, request_for
from showdown.tuning.samplers import gp, random, sampler, sampler_names
from showdown.tuning.space import at_an_end, space_of
from showdown.tuning.tune import tune
from showdown.tuning.tuned_study import Reported, sentences, table


def asked(budget="8", **changes):
    options = {"horizon": 400, "trials": 2, "final_trials": 2, "batch": 4, "sampler": "gp", **changes}
    return request_for("LinPost", ["wheel-0.5"], budget=budget, **options)


def test_a_space_holds_floats_unless_others_are_asked_for():
    post = policies.get("LinFullPost")
    assert [row.name for row in space_of("LinFullPost", post).dimensions] == [
        "prior_precision",
        "noise_shape",
        "noise_rate",
    ]
    space = space_of("LinFullPost", post, ["pulls", "cov*"])
    assert {row.search.scale for row in space.dimensions} == {"integers", "choices"}
    with pytest.raises(UsageError, match=r"no field 'speed'.*prior_precision"):
        space_of("LinFullPost", post, ["speed"])
    with pytest.raises(UsageError, match="no float to tune"):
        space_of("Uniform", policies.get("Uniform"))
    council = space_of("Council", policies.get("Council"), ["tempering"])  # of each member
    assert len({row.name for row in council.dimensions}) == 2


def test_places_and_values_agree():
    space = space_of("LinFullPost", policies.get("LinFullPost"), ["*"])
    for place in np.random.default_rng(0).random((50, len(space.dimensions))):
        candidate = space.candidate(place)
        assert all(row.search.low is None or candidate[row.name] in row.search for row in space.dimensions)
        again = space.candidate(space.places([candidate])[0])
        assert space.places([again]) == pytest.approx(space.places([candidate]), abs=1e-5)
        assert policies.get(space.spelled(candidate)) == space.configured(candidate)
    assert space.spelled(space.default) == "LinFullPost"
    assert space.configured(space.default) == policies.get("LinFullPost")


def test_a_value_at_an_end_of_its_range_is_named():
    space = space_of("LinPost", policies.get("LinPost"))
    assert at_an_end(space, {"prior_precision": 1000.0, "noise_variance": 1.0}) == ["prior_precision"]
    assert at_an_end(space, space.default) == []


@pytest.mark.parametrize(
    ("text", "budget"),
    [("200", TuningBudget(candidates=200)), ("90s", TuningBudget(seconds=90)), ("1.5h", TuningBudget(seconds=5400))],
)
def test_a_budget_is_a_number_or_a_time(text, budget):
    assert TuningBudget.read(text) == budget


@pytest.mark.parametrize("text", ["", "ten", "0", "1.5", "-3", "5d"])
def test_a_budget_that_is_neither_is_refused(text):
    with pytest.raises(UsageError, match="a budget is"):
        TuningBudget.read(text)


def regret_at(place):
    """Noise that does not depend on the place, a narrow valley and a cliff."""
    return 1000 * np.abs(place - 0.37).sum(axis=-1) ** 1.5 + 5000 * (place[..., 0] > 0.8)


def test_the_gaussian_process_finds_what_random_search_does_not():
    space = space_of("LinPost", policies.get("LinPost"))
    found = {}
    for propose in (gp.propose, random.propose):
        places = random.propose(space, np.zeros((0, 2)), np.zeros(0), 16, 5)
        for batch in range(3):
            noise = np.random.default_rng(batch).normal(0, 5, len(places))
            new = propose(space, places, regret_at(places) + noise, 16, batch)
            assert np.array_equal(new, propose(space, places, regret_at(places) + noise, 16, batch))
            assert len(np.unique(new, axis=0)) == 16
            places = np.concatenate([places, new])
        found[propose] = regret_at(places).min()
    assert found[gp.propose] < 10 < found[random.propose]


def test_a_sampler_that_does_not_exist_is_refused_and_one_that_is_not_installed_says_so():
    assert {"gp", "random", "optuna-tpe"} <= set(sampler_names())
    with pytest.raises(UsageError, match="did you mean 'gp'"):
        sampler("gpp")
    try:
        import optuna  # noqa: F401
    except ImportError:
        space = space_of("LinPost", policies.get("LinPost"))
        with pytest.raises(UsageError, match="needs Optuna"):
            sampler("optuna-tpe")(space, np.zeros((1, 2)), np.zeros(1), 1, 0)


def test_several_problems_count_alike_whatever_their_scale():
    good, bad = np.array([1.0, 1.0]), np.array([3.0, 3.0])
    measured = [[bad, 1000 * bad], [good, 1000 * bad], [good, 1000 * good]]
    assert combined(measured, measured[0], "regret") == pytest.approx([1, 2 / 3, 1 / 3])
    assert combined(measured, measured[0], "rank") == pytest.approx([(3 + 2.5) / 2, (1.5 + 2.5) / 2, (1.5 + 1) / 2])
    assert combined([[good], [bad]], [bad], "rank") == pytest.approx([1, 3])  # of one problem: what was measured


def test_those_given_up_count_as_no_better_than_the_worst_of_their_batch():
    request = asked()
    entries = [
        TriedCandidate({}, 0, 1.0, [np.array([10.0])], score=1.0),
        TriedCandidate({}, 0, 1.0, [np.array([14.0])], score=2.0),
        TriedCandidate({}, 0, 0.125, [np.array([3.0])], score=3.0),
        TriedCandidate({}, 0, 1.0, None),
    ]
    values = TuningHistory(request, entries).values()
    assert values.tolist() == [10, 14, 18, np.inf]
    assert TuningHistory(request, entries).best(9) == [0]  # equal candidates count once


def pretend(players, problem, *, trials, seed, progress=None):
    """What `simulate_many` returns, without playing: a valley in the two fields, and luck that all players share."""
    luck = np.random.default_rng(seed).normal(0, 0.1, trials)
    steps = np.array([problem.horizon // 2, problem.horizon])
    outcomes = []
    for player in players:
        lost = abs(np.log(player.inner.prior_precision / 3)) + abs(np.log(player.inner.noise_variance / 0.5))
        regret = problem.horizon * (1 + lost + luck)
        curves = dict.fromkeys(per_checkpoint(), regret[:, None] * steps / steps[-1])
        columns, counts = dict.fromkeys(per_trial(), regret), np.ones((trials, 5), int)
        outcomes.append(Outcome(columns, curves, steps, counts, ProblemSpec(2, 5), 0.0, 0.1, trials))
    return outcomes


class Killed(BaseException):
    """As a kill: no handler for errors may catch it."""


def history_of(folder):
    (path,) = (folder / "tuning").glob("*.json")
    cells = sorted(path.stem for path in folder.rglob("cells/*.json"))
    return json.loads(path.read_text()), path.with_suffix(".csv").read_text(), cells


def test_a_tuner_that_is_killed_ends_with_the_same_history_as_one_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(play_candidates, "simulate_many", pretend)
    calm, result = tune(asked(), Store(tmp_path / "calm"))
    assert len(calm.entries) == 8
    assert {entry.part for entry in calm.entries} == {0.125, 1.0}
    assert calm.entries[0].candidate == calm.request.space.default
    assert calm.entries[0].whole
    assert result.problems[0].trials == 2
    left, generator = [0], np.random.default_rng(1)
    write_done = Store.write_done

    def write(self, *arguments):
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        write_done(self, *arguments)

    monkeypatch.setattr(Store, "write_done", write)
    kills = 0
    while kills < 40:
        left[0] = int(generator.integers(1, 6))
        try:
            tune(asked(), Store(tmp_path / "killed"))
            break
        except Killed:
            kills += 1
    assert kills > 2
    told, wild = history_of(tmp_path / "calm"), history_of(tmp_path / "killed")
    assert wild[0] == told[0]
    assert wild[2] == told[2]
    drop = [line.rpartition(",")[0] for line in told[1].splitlines()]  # the last column is seconds
    assert [line.rpartition(",")[0] for line in wild[1].splitlines()] == drop
    left[0] = 10**9
    more, _ = tune(asked(budget="12"), Store(tmp_path / "calm"))  # a larger budget continues
    assert [entry.candidate for entry in more.entries[:8]] == [entry.candidate for entry in calm.entries]
    assert len(more.entries) == 12


def test_candidates_that_diverge_or_are_refused_are_results_and_damaged_ones_are_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(play_candidates, "simulate_many", pretend)
    request = asked("4")
    history, _ = tune(request, Store(tmp_path))
    victim = sorted((tmp_path / "tuning" / "cells").glob("*.parquet"))[0]
    victim.write_bytes(b"nothing")
    played = []
    monkeypatch.setattr(play_candidates, "simulate_many", _counting(played))
    tune(request, Store(tmp_path))
    assert len(played) == 1
    assert played[0] > 1  # in the program that there is
    assert Store(tmp_path / "tuning").is_done(victim.stem)
    shutil.rmtree(tmp_path)
    monkeypatch.setattr("showdown.policies.linear.LinearKnownNoise.check", _refuse_small_noise)
    history, result = tune(request, Store(tmp_path))
    refused = [entry for entry in history.entries if entry.measured is None]
    assert refused
    assert all(entry.candidate["noise_variance"] < 0.1 for entry in refused)
    assert np.isinf(history.values()).sum() == len(refused)
    assert result.candidate["noise_variance"] >= 0.1


def test_an_engine_plays_the_same_cells_as_a_population(tmp_path):
    request = asked(horizon=30)
    space, (problem,) = request.space, request.problems.values()
    candidates = [space.default, {"prior_precision": 2.0, "noise_variance": 1.0}]
    cells = [Cell(space.spelled(each), "wheel-0.5", space.configured(each), problem, 2, 0) for each in candidates]
    steps = []
    for name in ("together", "alone"):
        Store(tmp_path / name).prepare()
    together = play_candidates.play(cells, Place(Store(tmp_path / "together")), "cumulative", steps.append)
    alone = play_candidates.play(
        cells, Place(Store(tmp_path / "alone"), by_engine("local", RunLimits())), "reward", steps.append
    )
    found = play_candidates.play(cells, Place(Store(tmp_path / "alone")), "cumulative")
    assert sum(steps) == 2 * 2 * 2 * 30
    for one, other, reward in zip(together, found, alone, strict=True):
        assert one.losses == pytest.approx(other.losses, rel=1e-4)
        assert (reward.losses < 0).all()  # smaller is better throughout


def _counting(played):
    many = play_candidates.simulate_many

    def count(players, *arguments, **options):
        played.append(len(players))
        return many(players, *arguments, **options)

    return count


def _refuse_small_noise(self):
    if self.noise_variance < 0.1:
        raise UsageError("too little noise")


def reported(name, tuned_on, problem, mean, other, low, high, compared_with="Lin", published=False):
    kind = "default" if not tuned_on else "own" if tuned_on == problem else "transferred"
    gap = Difference(mean - other, low, high, 0.01, 2, 1, 0)
    numbers = (mean, other, gap.mean, gap.low, gap.high, gap.wins, gap.trials, gap.verdict)
    return Reported("Lin", name, tuned_on, kind, published, problem, compared_with, *numbers)


def test_the_words_of_the_protocol_say_what_gains_and_what_does_not_travel():
    rows = [
        reported("Lin", "", "near", 10.0, 10.0, 0.0, 0.0),
        reported("Lin", "", "far", 10.0, 10.0, 0.0, 0.0),
        reported("Lin@near", "near", "near", 8.0, 10.0, -3.0, -1.0),
        reported("Lin@near", "near", "near", 8.0, 9.0, -2.0, 0.5, compared_with="Lin-MR"),
        reported("Lin@near", "near", "far", 15.0, 10.0, 4.0, 6.0),
    ]
    lines = table(rows).splitlines()
    assert lines[0].split() == ["configuration", "near", "far"]
    assert lines[2].split() == ["Lin@near", "(80.0)+", "150.0−"]
    gain, rival = sentences(rows)
    assert gain.startswith(
        "Lin@near: -20.0 % on near (95 % interval -30.0 to -10.0); elsewhere better on 0, worse on 1"
    )
    assert rival.startswith("Lin@near against Lin-MR: -11.1 % on near")
    assert rival.endswith("not to be told apart")
