"""What a table reads well and still misleads with: each is said, and an ordinary table says nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from showdown.basics.errors import UsageError
from showdown.data.bandit_table import as_bandit_table
from showdown.data.choose_columns import LogColumns, log_played_as_labels
from showdown.problems import table

ROWS = 60


@pytest.fixture
def frame() -> pd.DataFrame:
    draw = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "x": draw.normal(size=ROWS),
            "z": draw.choice(["p", "q"], ROWS),
            "y": draw.choice(["no", "yes", "maybe"], ROWS),
        }
    )


def warnings_of(frame: pd.DataFrame, **options) -> tuple[str, ...]:
    return as_bandit_table(frame, **options).warnings


def test_an_ordinary_table_has_no_warning(frame):
    assert warnings_of(frame, label="y") == ()
    assert warnings_of(frame) == ()


def test_a_column_that_equals_the_label(frame):
    coded = frame["y"].map({"no": 7, "yes": 3, "maybe": 9})
    (warning,) = warnings_of(frame.assign(code=coded), label="y")
    assert "'code' equals the label" in warning
    assert "ignore" in warning
    assert warnings_of(frame.assign(code=coded.mask(frame.index == 3)), label="y") != ()  # a gap does not hide it
    assert warnings_of(frame.assign(code=coded), label="y", ignore="code") == ()
    almost = coded.where(frame.index != 3, 7 if frame["y"][3] != "no" else 3)
    assert warnings_of(frame.assign(code=almost), label="y") == ()


def test_a_column_that_equals_a_reward(frame):
    paid = frame.assign(a=frame["x"], b=-frame["x"])
    (warning,) = warnings_of(paid, rewards="a+b", ignore="y")
    assert "'x' equals the reward column 'a'" in warning


def test_classes_of_one_row(frame):
    frame.loc[4, "y"] = "rare"
    assert any("1 class has one row only ('rare')" in warning for warning in warnings_of(frame, label="y"))


@pytest.mark.parametrize(("columns", "warned"), [(28, False), (30, True)])
def test_a_context_nearly_as_wide_as_the_table_is_long(frame, columns, warned):
    draw = np.random.default_rng(0)
    wide = pd.DataFrame(draw.normal(size=(ROWS, columns))).add_prefix("f").assign(y=frame["y"])
    assert [f"{columns} dimensions and the table 60 rows" in each for each in warnings_of(wide, label="y")] == (
        [True] if warned else []
    )


def test_spellings_that_differ_by_case_or_spaces(frame):
    frame.loc[:9, "y"] = "Yes"
    frame.loc[:5, "z"] = "P"
    frame.loc[6:8, "z"] = " p  q"
    frame.loc[9:11, "z"] = "pq"
    label, column = warnings_of(frame, label="y")
    assert "the label has values that differ only by upper case or spaces" in label
    assert "'Yes' and 'yes'" in label
    assert "'z'" in column
    assert "'P' and 'p'; 'p  q' and 'pq'" in column


def test_dates_that_could_be_either(frame):
    unclear = frame.assign(when=[f"{1 + row % 12:02}/{1 + row % 5:02}/2020" for row in range(ROWS)])
    (warning,) = warnings_of(unclear, label="y")
    assert "the dates in 'when' could be day/month or month/day and were read as day/month" in warning
    unclear.loc[0, "when"] = "31/01/2020"  # now it is clear
    assert warnings_of(unclear, label="y") == ()


@pytest.fixture
def log(frame) -> pd.DataFrame:
    draw = np.random.default_rng(4)
    return frame[["x", "z"]].assign(
        action=draw.choice(["a", "b"], ROWS), reward=draw.integers(0, 2, ROWS), propensity=draw.uniform(0.2, 0.8, ROWS)
    )


@pytest.mark.parametrize("label", ["action", "reward", 2, ""])
def test_a_log_is_not_played_as_labels(log, tmp_path, label):
    log.to_csv(tmp_path / "log.csv", index=False)
    for data in (log, tmp_path / "log.csv"):
        with pytest.raises(UsageError, match=r"log of decisions.*evaluate FILE --action action --reward reward --prop"):
            table(data, label=label)


def test_a_table_that_only_looks_like_a_log_can_be_played(log):
    assert table(log, label="action", keep="propensity").bandit_table().context_dim == 4
    assert table(log, label="action", ignore="propensity").bandit_table().context_dim == 3
    assert table(log, label="z").bandit_table().actions == ("p", "q")  # the label is no part of the log
    assert log_played_as_labels(log, "action") == LogColumns("action", "reward", "propensity")


def leaky(rows: int = 400) -> pd.DataFrame:
    """Loans: `sub_grade` decides `grade` though it has five values for each, and `score` is what both were cut from."""
    draw = np.random.default_rng(5)
    score = draw.uniform(0, 35, rows)
    return pd.DataFrame(
        {
            "amount": draw.normal(size=rows),
            "score": score,
            "sub_grade": [f"{'ABCDEFG'[int(value // 5)]}{int(value % 5) + 1}" for value in score],
            "grade": ["ABCDEFG"[int(value // 5)] for value in score],
        }
    )


def test_a_column_that_decides_the_label_without_being_equal_to_it():
    """`sub_grade` gave 98.3 % right answers for `grade`, and no warning."""
    found = warnings_of(leaky(), label="grade", ignore="score")
    assert len(found) == 1
    assert "'sub_grade' decides the label in 100.0% of the rows" in found[0]
    found = warnings_of(leaky(2000), label="grade", ignore="sub_grade")
    assert ["'score' decides the label" in warning for warning in found] == [True]
    assert warnings_of(leaky(), label="grade", ignore="score+sub_grade") == ()


def test_a_rare_class_is_no_leak():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": draw.normal(size=5000), "z": draw.choice(list("pqrs"), 5000), "y": draw.random(5000) < 0.004}
    )
    assert warnings_of(frame, label="y") == ()


def test_numbers_that_name_rows_are_named(frame):
    numbers = np.random.default_rng(1).permutation(10 * ROWS)[:ROWS]
    (warning,) = warnings_of(frame.assign(customer=numbers), label="y")
    assert "'customer' may name the rows" in warning
    assert warnings_of(frame.assign(customer=numbers), label="y", ignore="customer") == ()
    assert warnings_of(frame.assign(customer=numbers / 7), label="y") == ()  # a measurement


@pytest.mark.parametrize("name", ["Unnamed: 0", "column_0", "index", ""])
def test_a_reward_matrix_with_an_index_column_is_refused(frame, name):
    """As pandas writes it, the index became an action without a word."""
    matrix = pd.DataFrame({name: [0, 1, 2], "a": [1.0, 0, 0], "b": [0.0, 1, 1]})
    with pytest.raises(UsageError, match="looks like a row number and would be an action"):
        as_bandit_table(frame, label="y", reward_matrix=matrix)
    named = matrix.assign(**{name: ["no", "yes", "maybe"]})
    assert as_bandit_table(frame, label="y", reward_matrix=named).actions == ("a", "b")
    assert as_bandit_table(frame, label="y", reward_matrix=matrix.rename(columns={name: "stay"})).actions[0] == "stay"
