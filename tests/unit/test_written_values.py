"""Numbers, dates and times as people write them: in context, in rewards, and in later rows."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from showdown.data.bandit_table import as_bandit_table
from showdown.data.choose_columns import possible_labels
from showdown.data.encode_column import encode
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.data.written_values import writing_of
from showdown.problems import table

ROWS = 60


def standardised(numbers) -> np.ndarray:
    numbers = np.asarray(numbers, np.float64)
    return (numbers - numbers.mean()) / numbers.std()


@pytest.mark.parametrize(
    ("texts", "treatment", "numbers", "note"),
    [
        (["$1,234.00", "$5", "-$7.50", "(1,000)"], "number", [1234, 5, -7.5, -1000], "$1,234.5"),
        (["12,345.67", "3", "950", "1,000,000"], "number", [12345.67, 3, 950, 1e6], "written as 1,234.5"),
        (["1.234,50 €", "3,00 €", "€ 7", "10,5 €"], "number", [1234.5, 3, 7, 10.5], "€1.234,5"),
        (["12.3%", "4 %", "-1%", "0.5%"], "number", [12.3, 4, -1, 0.5], "12.3% is 12.3"),
        (["31/01/2020", "1/2/2020", "02/02/2020 12:00", "03/03/2020"], "date", [0, 1, 2.5, 32], "day/month/year"),
        (["12/31/2020", "1/1/2021", "01/02/2021", "1/4/2021"], "date", [0, 1, 2, 4], "month/day/year"),
        (["31.01.2020", "01.02.2020", "05.02.2020", "06.02.2020"], "date", [0, 1, 5, 6], "day/month/year"),
        (["2020/1/31", "2020/02/01", "2020/02/05", "2020/02/06"], "date", [0, 1, 5, 6], "year/month/day"),
        (["03/04/2020", "03/05/2020", "04/05/2020", "01/04/2020"], "date", [2, 32, 33, 0], "03/04/2020 is 3 April"),
        (["14:05", "9:30", "00:00:36", "23:59"], "time", [14 + 5 / 60, 9.5, 0.01, 23 + 59 / 60], "hours since"),
        (["3:30 PM", "12:00 am", "12:15pm", "1:00 a.m."], "time", [15.5, 0, 12.25, 1], "hours since"),
    ],
)
def test_text_becomes_numbers_when_all_of_it_is_written_so(texts, treatment, numbers, note):
    encoded = encode(pd.Series(texts, name="x"))
    assert (encoded.column.treatment, encoded.column.dims) == (treatment, 1)
    assert note in encoded.column.note
    np.testing.assert_allclose(encoded.values[:, 0], standardised(numbers), atol=1e-5)
    with_gap = encode(pd.Series([*texts, None, "NA"], name="x"))
    assert (with_gap.column.treatment, with_gap.column.dims, with_gap.column.missing) == (treatment, 2, 2)
    assert encode(pd.Series([*texts, "about 5"], name="x")).column.treatment == "one-hot"  # not all: categories


@pytest.mark.parametrize(
    "texts",
    [
        ["0.5", "50%"],  # may be one value
        ["$5", "€5"],  # two currencies
        ["1,2", "3,4"],  # may be lists
        ["0,123", "0,456"],  # decimal commas, not thousands
        ["(1)", "(2)"],  # may be footnotes
        ["31/01/2020", "01/31/2020"],  # neither order fits both
        ["30/02/2020", "01/01/2020"],  # no such day
        ["31/01/20", "01/02/20"],  # which century is not said
        ["24:00", "1:00"],
        ["1.2.3", "1.10.0"],
        ["555-12-3456", "121-11-1111"],
        ["16:9", "4:3"],
    ],
)
def test_what_is_not_clearly_a_number_stays_a_category(texts):
    assert writing_of(pd.Series(texts)) == ""
    assert encode(pd.Series(texts, name="x")).column.treatment == "0/1"


def test_thousands_among_plain_numbers_are_not_lost():
    texts = [str(10 * number) for number in range(1, 40)] + ["1,234"]  # over 95 % are plain numbers
    encoded = encode(pd.Series(texts, name="x"))
    assert encoded.column.missing == 0
    np.testing.assert_allclose(encoded.values[-1, 0], standardised([*range(10, 400, 10), 1234])[-1], rtol=1e-5)


def test_categories_on_request_and_times_of_python():
    assert encode(pd.Series(["5%", "10%", "5%"], name="x"), categorical=True).column.treatment == "0/1"
    times = pd.Series([datetime.time(6), datetime.time(7, 30), datetime.time(9)], name="x")
    np.testing.assert_allclose(encode(times).values[:, 0], standardised([6, 7.5, 9]), rtol=1e-6)


def test_rewards_may_be_money_and_labels_stay_text():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0, 3.0], "a": ["$1,000", "$2", "$3", "$4"], "b": ["1%", "2%", "3%", "4%"]})
    found = as_bandit_table(frame, rewards="a+b")
    np.testing.assert_array_equal(found.payoffs, [[1000, 1], [2, 2], [3, 3], [4, 4]])
    doubled = pd.concat([frame] * 2, ignore_index=True)
    assert as_bandit_table(doubled, label="b").actions == ("1%", "2%", "3%", "4%")
    assert "b" not in possible_labels(doubled)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    draw = np.random.default_rng(8)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(day)) for day in draw.integers(0, 900, ROWS)]
    return pd.DataFrame(
        {
            "price": [f"${amount:,.2f}" for amount in draw.uniform(100, 90_000, ROWS)],
            "rate": [None if row == 5 else f"{rate:.1f}%" for row, rate in enumerate(draw.uniform(0, 99, ROWS))],
            "size": [f"{size:,}" for size in draw.integers(1, 10**6, ROWS)],
            "born": [f"{day:%d/%m/%Y}" for day in days],
            "seen": [f"{day:%m/%d/%Y} {row % 24:02}:30" for row, day in enumerate(days)],
            "opens": [f"{row % 24}:{row:02}" for row in range(ROWS)],
            "kind": draw.choice(["a", "b"], ROWS),
        }
    )


def test_later_rows_are_read_as_the_table_was(frame):
    problem = table(frame, label="kind")
    encoder = Encoder.for_problem(problem)
    contexts = problem.bandit_table().contexts.astype(np.float64)
    expected = (contexts - contexts.mean(axis=0)) / contexts.std(axis=0)
    counts, single = EncodeCounts(), EncodeCounts()
    np.testing.assert_allclose(encoder.encode(frame, counts), expected, atol=2e-5)
    np.testing.assert_allclose(encoder.encode(frame.to_dict("records"), single), expected, atol=2e-5)
    assert counts.as_dict() == single.as_dict()
    assert counts.missing == {"rate": 1}
    again = Encoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder
    np.testing.assert_array_equal(again.encode(frame), encoder.encode(frame))


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("price", "$1,250.00", (1250, "1250", "$1250", "1,250.0")),
        ("rate", "12.5%", (12.5, "12.5", "12.50 %")),
        ("born", "03/04/2021", ("2021-04-03", datetime.date(2021, 4, 3), pd.Timestamp("2021-04-03"), "3/4/2021")),
        ("opens", "14:30", ("14:30:00", "2:30 PM", datetime.time(14, 30), 14.5)),
    ],
)
def test_a_later_value_may_be_written_in_other_ways(frame, name, text, same):
    encoder = Encoder.for_problem(table(frame, label="kind"))
    usual = frame.iloc[0].to_dict()
    expected = encoder.encode(usual | {name: text})
    for value in same:
        counts = EncodeCounts()
        np.testing.assert_allclose(encoder.encode(usual | {name: value}, counts), expected, atol=1e-6)
        np.testing.assert_allclose(encoder.encode(pd.DataFrame([usual | {name: value}]))[0], expected, atol=1e-6)
        assert not counts.missing
    for value in ("€5", "99/99/2020", "soon", None):
        counts = EncodeCounts()
        row = usual | {name: value}
        np.testing.assert_array_equal(encoder.encode(row, counts), encoder.encode(pd.DataFrame([row]))[0])
        assert counts.missing == {name: 1}


def test_an_encoder_saved_before_writings_were_known_is_read(frame):
    encoder = Encoder.for_problem(table(frame.assign(kind=["a", "b"] * (ROWS // 2))[["size", "kind"]], label="kind"))
    saved = encoder.to_json()
    for rule in saved["rules"]:
        del rule["writing"]
    assert Encoder.from_json(saved).rules[0].writing == ""
