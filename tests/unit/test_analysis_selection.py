"""One cell per (policy, problem), and nothing left out without a reason."""

from __future__ import annotations

import pandas as pd
import pytest

from showdown.analysis.selection import in_order, require_one_cell_each, select
from showdown.analysis.summary import summarise
from showdown.basics.errors import UsageError


@pytest.fixture
def frame(frame_of) -> pd.DataFrame:
    return pd.concat(
        [
            frame_of({("A", "x"): [1, 2], ("B", "x"): [3, 4], ("A", "y"): [5]}, horizon=100),
            frame_of({("A", "x"): [6, 7], ("B", "x"): [8]}, horizon=200),
            frame_of({("A", "x"): [9]}, horizon=200, seed=1),
            frame_of({("B", "x"): [8, 10]}, horizon=200),
        ],
        ignore_index=True,
    )


def test_other_data_under_one_name_is_never_mixed(frame_of):
    old = frame_of({("Uniform", "table"): [8.0, 8.0], ("LinPost", "table"): [4.0, 4.0]}, horizon=300, data="old")
    new = frame_of({("LinPost", "table"): [2.0, 2.0]}, horizon=100, data="new")
    chosen = select(pd.concat([old, new], ignore_index=True))
    assert set(chosen.frame["data"]) == {"new"}
    assert list(chosen.left_out["because"]) == ["data", "data"]
    with pytest.raises(UsageError, match="no finished Uniform cell"):
        summarise(chosen.frame, "cumulative")


def test_the_longest_horizon_then_the_lowest_seed_then_the_most_trials(frame):
    chosen, left_out = select(frame)
    regrets = chosen.groupby(["policy", "problem"])["cumulative"].apply(list).to_dict()
    assert regrets == {("A", "x"): [6, 7], ("B", "x"): [8, 10], ("A", "y"): [5]}
    reasons = {(row.policy, row.horizon, row.seed, row.trials): row.because for row in left_out.itertuples()}
    assert reasons == {
        ("A", 100, 0, 2): "horizon",
        ("B", 100, 0, 2): "horizon",
        ("A", 200, 1, 1): "seed",
        ("B", 200, 0, 1): "trials",
    }


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"horizon": 100}, {("A", "x"): [1, 2], ("B", "x"): [3, 4], ("A", "y"): [5]}),
        ({"seed": 1}, {("A", "x"): [9]}),
        ({"horizon": 200, "trials": 1, "seed": 0}, {("B", "x"): [8]}),
    ],
)
def test_filters_choose(frame, filters, expected):
    chosen, _ = select(frame, **filters)
    assert chosen.groupby(["policy", "problem"])["cumulative"].apply(list).to_dict() == expected


def test_a_filter_that_nothing_passes_says_what_there_is(frame):
    with pytest.raises(UsageError, match=r"no finished cell has horizon 7; there are 100, 200"):
        select(frame, horizon=7)


def test_of_two_versions_the_newest_is_shown(frame_of):
    old, new = (frame_of({("A", "x"): [value]}, made=made) for value, made in ((1, "zz"), (2, "aa")))
    chosen, left_out = select(pd.concat([old, new], ignore_index=True))
    assert list(chosen["cumulative"]) == [2]
    assert list(left_out["because"]) == ["older"]
    assert left_out["cell"].item().endswith("zz")


def test_a_cell_with_two_names_is_shown_under_both(frame_of):
    frame = frame_of({("A", "x"): [1, 2]})
    chosen, left_out = select(pd.concat([frame, frame.assign(policy="B")], ignore_index=True))
    assert chosen.groupby("policy")["cumulative"].apply(list).to_dict() == {"A": [1, 2], "B": [1, 2]}
    assert left_out.empty


def test_pooling_two_cells_is_refused(frame_of):
    both = pd.concat([frame_of({("A", "x"): [1]}), frame_of({("A", "x"): [1]}, seed=1)])
    with pytest.raises(ValueError, match="A on x has several cells"):
        require_one_cell_each(both)


def test_order_is_the_known_one_with_overrides_after_their_preset_and_strangers_last():
    names = ["new", "B[a=2]", "A", "B[a=1]", "B", "other", "A"]
    assert in_order(names, ["C", "B", "A"]) == ["B", "B[a=2]", "B[a=1]", "A", "new", "other"]
