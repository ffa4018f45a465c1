"""What makes a comparison doubtful is found, and a sound one raises no alarm."""

from __future__ import annotations

import numpy as np
import pytest

from showdown.analysis.build_table import build_table
from showdown.analysis.judge import judge
from showdown.analysis.notes import (
    Bending,
    CatchingUp,
    FewTrials,
    LongWarmUp,
    ShortHorizon,
    UnequalCoverage,
    UnsharedProblems,
)
from showdown.analysis.play_details import PlayDetails, play_details
from showdown.analysis.selection import select
from showdown.analysis.table import TableRequest
from showdown.analysis.validity import catching_up, cautions, is_bending, no_times, with_times
from showdown.basics.errors import UsageError
from showdown.bench.store import Store
from showdown.report.formats import text


def detail(**changes) -> PlayDetails:
    usual = {"hardware": "abacus", "concurrent": 0, "rows": None, "warm_up": 0, "step_seconds": 1e-6}
    return PlayDetails(**{**usual, "rounding": 0.0, "quarters": None, **changes})


def noisy(*quarters: float, trials: int = 12, seed: int = 0) -> np.ndarray:
    return np.asarray(quarters) + np.random.default_rng(seed).standard_normal((trials, 4))


def kinds(found) -> set[type]:
    return {type(caution) for caution in found}


def test_a_sound_comparison_raises_no_alarm(frame_of):
    frame = frame_of({("A", "x"): range(12), ("B", "x"): range(12)}, horizon=100)
    details = {cell: detail(rows=100, warm_up=10, quarters=noisy(40, 30, 30, 30)) for cell in frame["cell"]}
    assert cautions(frame, details) == []
    assert no_times(frame, details) == ""
    assert judge(frame, details).warnings == ()


def test_each_doubt_is_found(frame_of):
    frame = frame_of({("A", "x"): [1, 2, 3], ("B", "x"): [1, 2, 3], ("B", "y"): [1, 2, 3], ("C", "y"): [1, 2, 3]})
    details = {cell: detail(rows=400, warm_up=25, quarters=noisy(99, 60, 40, 20)) for cell in frame["cell"]}
    found = cautions(frame, details)
    assert kinds(found) == {ShortHorizon, Bending, LongWarmUp, FewTrials, UnequalCoverage, UnsharedProblems}
    told = "\n".join(map(str, found))
    assert "not played to the end: x (100 of 400 steps), y (100 of 400 steps)" in told
    assert "A on x (25 of 100)" in told
    assert "fewer than 10 trials on x, y (3)" in told
    assert "lack problems that the others played: C (1 of 2)" in told


def test_trials_of_the_same_rows_are_doubted(frame_of):
    (found,) = cautions(frame_of({("A", "x/in-order"): range(12), ("B", "x/in-order"): range(12)}), {})
    assert str(found).startswith("all trials have the same rows in one order on x/in-order:")


def test_a_ranked_policy_is_not_said_to_be_unranked(frame_of):
    both = {(name, problem): [1, 2, 3] for name in "AB" for problem in "xy"}
    found = judge(frame_of({**both, ("A", "z"): [1, 2, 3], ("C", "x"): [1, 2, 3]}), {})
    assert found.problems == ("x", "y")
    assert "not ranked, since they lack problems that the others played: C (1 of 3)" in found.warnings
    assert "ranked over 2 of 3 problems, without z, which not all ranked methods played" in found.warnings


def test_a_straight_curve_is_hardly_ever_called_bending():
    alarms = sum(is_bending(noisy(30, 30, 30, 30, trials=10, seed=seed) * 3) for seed in range(300))
    assert alarms <= 3
    assert is_bending(100 * np.diff(np.sqrt([0, 1, 2, 3, 4])) + 0.1 * noisy(0, 0, 0, 0))
    assert not is_bending(None)
    assert not is_bending(np.array([[4.0, 3.0, 2.0, 1.0]]))  # one trial says nothing


@pytest.mark.parametrize(
    ("last", "expected"),
    [(10, True), (24, False)],  # 60 behind: at 20 a quarter they cross after 3 more quarters, at 6 after 10
)
def test_a_policy_that_catches_up_is_named(frame_of, last, expected):
    frame = frame_of({("A", "x"): [120] * 12, ("B", "x"): [180] * 12}, horizon=1000)
    quarters = {"A": noisy(30, 30, 30, 30), "B": noisy(80, 60, 40 - last, last, seed=1)}
    details = {cell: detail(quarters=quarters[cell[0]]) for cell in frame["cell"]}
    found = catching_up(frame, details, "A", ["B"])
    assert bool(found.items) == expected
    if expected:
        assert str(found).startswith("at the rate of the last quarter B would overtake A on x after about 1,")
        assert any("would overtake" in warning for warning in judge(frame, details).warnings)
    assert isinstance(found, CatchingUp)
    assert not catching_up(frame, details, "B", ["A"]).items


def test_times_of_other_hardware_or_of_shared_processes_are_not_compared(frame_of):
    frame = frame_of({("A", "x"): [1, 2], ("B", "x"): [1, 2], ("A", "y"): [1, 2], ("B", "y"): [1, 2]})
    shared = {cell: detail(concurrent=int(cell.startswith("A|x"))) for cell in frame["cell"]}
    kept, doubts = with_times(frame, shared)
    assert set(kept["problem"]) == {"y"}
    assert str(doubts[0]) == "times are not compared on x (cells were run at the same time as others (--processes))"
    table = build_table(select(frame), TableRequest(metric="time"), shared)
    assert table.problems == ["y"]
    assert "times are not compared on x" in text.write(table)
    two = {cell: detail(hardware=cell[0]) for cell in frame["cell"]}
    with pytest.raises(
        UsageError, match=r"no time to run to show: times are not compared on x, y .*2 kinds of hardware"
    ):
        build_table(select(frame), TableRequest(metric="time"), two)
    found = judge(frame[frame["problem"] == "x"], two)
    assert (found.cheapest, found.cheapest_reason) == (None, "cells were run on 2 kinds of hardware")


def test_facts_are_read_from_a_store(stored, change_cell, tmp_path):
    folder = stored(tmp_path, {("LinFullPost", "wheel-0.5"): [4.0, 8.0], ("RMS", "linear"): [1.0, 2.0]})
    for path in (folder / "cells").glob("*.json"):
        change_cell(path, rows=77)
    store = Store(folder)
    frame = store.frame()
    details = play_details(store, store.cells(), frame["cell"])
    one = details[frame.loc[frame["policy"] == "LinFullPost", "cell"].iloc[0]]
    assert (one.rows, one.hardware, one.concurrent) == (77, "device abacus, cores 2", 0)
    assert one.warm_up == 3 * 3  # three pulls of three actions
    # the curve is final·√(t / T), at quarters: 0.5, 0.707, 0.866, 1
    assert one.quarters[1] == pytest.approx([4, 1.657, 1.271, 1.072], abs=0.01)
