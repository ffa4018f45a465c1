"""Notes are merged as values, before they are sentences, and say what an older store lacks."""

from __future__ import annotations

import pandas as pd
import pytest

from showdown.analysis.build_table import build_table
from showdown.analysis.notes import LeftOut, NotKept, OtherHorizon, RankedOver, merged
from showdown.analysis.selection import select
from showdown.analysis.summary import cells_with_metric
from showdown.analysis.table import TableRequest
from showdown.basics.errors import UsageError
from showdown.metrics import METRICS
from showdown.report.grid import records


def test_notes_of_one_kind_become_one_about_all_their_items():
    notes = [
        OtherHorizon((("x", 10, 20), ("y", 10, 30))),
        RankedOver(("x",)),
        OtherHorizon((("z", 1, 2), ("x", 10, 20))),
        RankedOver(("x",), published_only=True),  # another kind: it says something else
    ]
    assert [str(note) for note in merged(notes)] == [
        "not compared with the paper (≠), which played another number of steps: "
        "x (10, not 20), y (10, not 30), z (1, not 2)",
        "mean rank over x",
        "mean rank over x among published cells",
    ]


def test_names_with_commas_and_colons_do_not_confuse_merging():
    """Notes used to be compared by splitting their English at commas."""
    notes = [RankedOver(("a", "b: c")), LeftOut((("1", "a, b", 5), ("2", "a, b", 7)), "horizon")]
    assert [str(note) for note in merged([*notes, *notes])] == [
        "mean rank over a, b: c",
        "left out: 2 cells with horizon 5, 7 on a, b "
        "(the longest horizon is shown; `showdown table --horizon` chooses)",
    ]


@pytest.fixture
def mixed(frame_of) -> pd.DataFrame:
    """A was played before rewards were kept, B after."""
    frame = frame_of({("A", "x"): [1, 2], ("B", "x"): [3, 5], ("B", "y"): [1, 1]})
    frame.loc[frame["policy"] == "A", ["reward", "reward_fixed"]] = float("nan")
    return frame


def test_cells_from_before_a_metric_are_counted_and_left_out(mixed):
    table = build_table(select(mixed), TableRequest(metric="reward", rank=True))
    assert [(row["policy"], row["problem"], row["mean"]) for row in records(table)] == [
        ("B", "mean_rank", 1),
        ("B", "x", 996),
        ("B", "y", 999),
    ]
    assert str(table.notes[0]) == (
        "1 cell was played before `reward` was kept: play it again into another folder (`showdown run --out`) to see it"
    )
    assert len(build_table(select(mixed), TableRequest(absolute=True)).rows) == 3  # regret is there for all of them


def test_a_metric_that_no_cell_holds_is_an_error_that_says_why(mixed, frame_of):
    old = frame_of({("A", "x"): [1], ("A", "y"): [1]}).drop(columns=["reward", "reward_fixed"])
    with pytest.raises(UsageError, match="no mean reward to show: 2 cells were played before `reward` was kept"):
        build_table(select(old), TableRequest(metric="reward"))
    with pytest.raises(UsageError, match="1 cell was played before"):  # of those that were asked for
        build_table(select(mixed), TableRequest(metric="reward", policies=["A"]))


def test_accuracy_is_for_problems_with_labels(frame_of):
    frame = frame_of({("A", "x"): [1], ("A", "y"): [1], ("A", "z"): [1]}).assign(accuracy=0.5)
    frame["labels"] = pd.Series([True, False, None], dtype=object)
    frame.loc[frame["problem"] == "z", "accuracy"] = float("nan")  # an old record, which does not say
    held, notes = cells_with_metric(frame, METRICS["accuracy"])
    assert list(held["problem"]) == ["x"]
    assert str(notes[0]) == "no accuracy on y: it is for problems whose rows have a label"
    assert isinstance(notes[1], NotKept)
    with pytest.raises(UsageError, match="no accuracy to show: no accuracy on y"):
        build_table(select(frame), TableRequest(metric="accuracy", problems=["y"]))
