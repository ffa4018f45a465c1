"""The encoder: training rows become the benchmark's contexts, unusual rows are handled as in training and counted."""

from __future__ import annotations

import ast
import datetime
import json
import re
import threading
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from showdown.basics.errors import UsageError
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.problems import problems, table

ROWS = 300


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Every kind of column the reader knows: numbers, text numbers, dates, booleans, categories, with gaps."""
    draw = np.random.default_rng(4)

    def gaps(values):
        return np.where(draw.random(ROWS) < 0.1, None, values)

    return pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "age": draw.integers(18, 80, ROWS),
            "income": np.where(draw.random(ROWS) < 0.2, np.nan, np.exp(draw.normal(10, 2, ROWS))),
            "reading": [*(f" {value:.3f}" for value in draw.normal(size=ROWS - 3)), "broken", None, "inf"],
            "region": draw.choice(["north", "south", "east"], ROWS),
            "plan": gaps(draw.choice(["a", "b", "c"], ROWS)),
            "town": [f"town {int(value)}" for value in draw.exponential(60, ROWS)],
            "member": draw.random(ROWS) < 0.5,
            "vip": draw.choice(["true", "false"], ROWS),
            "code": draw.integers(1, 5, ROWS),
            "joined": np.datetime64("2021-01-01") + draw.integers(0, 1000, ROWS),
            "seen": gaps((np.datetime64("2021-01-01") + draw.integers(0, 1000, ROWS)).astype(str)),
            "waited": pd.to_timedelta(draw.integers(0, 9999, ROWS), "s"),
            "level": pd.Categorical(draw.choice(["low", "high"], ROWS)),
            "sensor": np.where(draw.random(ROWS) < 0.1, np.nan, 4.0),  # constant where present
            "country": "NL",
            "bought": draw.choice(["plus", "basic", "none"], ROWS),
        }
    )


@pytest.fixture(scope="module")
def problem(frame):
    return table(frame, label="bought", categorical="code")


@pytest.fixture(scope="module")
def encoder(problem):
    return Encoder.for_problem(problem)


def standardised(problem) -> np.ndarray:
    contexts = problem.bandit_table().contexts.astype(np.float64)
    return (contexts - contexts.mean(axis=0)) / contexts.std(axis=0)


def test_training_rows_become_the_benchmarks_contexts(problem, encoder, frame):
    tables = jax.device_put(problem.load())
    episode = problem.begin(jax.random.key(0), tables)
    steps = np.arange(0, ROWS, 7)
    played = jax.vmap(lambda step: problem.context(step, episode, tables))(steps)
    encoded = encoder.encode(frame)
    assert encoded.dtype == np.float32
    assert encoded.shape == (ROWS, encoder.context_dim)
    np.testing.assert_allclose(encoded, standardised(problem), atol=2e-5)
    np.testing.assert_allclose(encoded[np.asarray(episode.order)[steps]], played, atol=2e-5)
    np.testing.assert_allclose(encoded.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(encoded.std(axis=0), 1, atol=1e-5)
    assert len(encoder.context_names) == encoder.context_dim


def test_a_row_is_encoded_alike_in_every_form(encoder, frame):
    counts = EncodeCounts()
    encoded = encoder.encode(frame, counts)
    records = frame.to_dict("records")
    single = EncodeCounts()
    np.testing.assert_allclose(encoder.encode(records, single), encoded, atol=1e-6)
    assert counts.as_dict() == single.as_dict()
    assert counts.new_columns == {}
    assert not counts.unknown
    assert counts.missing["reading"] == 3
    assert counts.other["town"] > 0  # rare in training, and gathered
    columns = list(encoder.columns)
    values = [records[5][name] for name in columns]
    for row in (frame.iloc[5], values, tuple(values), np.array(values, object), frame[columns].iloc[5].to_numpy()):
        np.testing.assert_allclose(encoder.encode(row), encoded[5], atol=1e-6)
    np.testing.assert_allclose(encoder.encode(np.array([values, values], object)), encoded[[5, 5]], atol=1e-6)
    np.testing.assert_array_equal(encoder.encode(encoded[5]), encoded[5])  # encoded already
    np.testing.assert_array_equal(encoder.encode(encoded), encoded)


def test_a_file_and_its_texts_are_encoded_as_the_table(tmp_path, frame):
    frame.to_csv(tmp_path / "customers.csv", index=False)
    problem = problems.get(f"table[path={tmp_path / 'customers.csv'},label=bought,ignore=waited]")
    encoder = Encoder.for_problem(problem)
    texts = pd.read_csv(tmp_path / "customers.csv", dtype=str, keep_default_na=False)  # as a web form would send them
    np.testing.assert_allclose(encoder.encode(texts), standardised(problem), atol=2e-5)
    rows = texts.head(20).to_dict("records")
    np.testing.assert_allclose(encoder.encode(rows), standardised(problem)[:20], atol=2e-5)


def test_unusual_values_are_handled_as_in_training_and_counted(encoder, frame):
    usual = frame.iloc[0].to_dict() | {"income": 20_000.0, "plan": "a", "region": "north"}
    names = list(encoder.context_names)

    def coordinates(name: str, **changes):
        counts = EncodeCounts()
        found = encoder.encode(usual | changes, counts)
        np.testing.assert_array_equal(found, encoder.encode(pd.DataFrame([usual | changes]))[0])
        return [float(found[place]) for place, each in enumerate(names) if each.startswith(name)], counts.as_dict()

    median = float(frame["income"].median())
    at_median, _ = coordinates("income", income=median)
    for absent in (None, np.nan, np.inf, "", "?", "unknown", 1e300, 10**400, pd.NA, b"x"):
        (value, mark), counts = coordinates("income", income=absent)
        assert value == at_median[0]
        assert mark > 0 > at_median[1]
        assert counts["missing"]["income"] == 1
    missing, counts = coordinates("plan", plan="NA")
    assert missing == coordinates("plan", plan=None)[0]
    assert missing[-1] > 0  # plan=missing
    assert counts["missing"]["plan"] == 1
    unknown, counts = coordinates("plan", plan="z")
    assert unknown == [0, 0, 0, 0]  # the table's mean: it says nothing
    assert counts["unknown"] == {"plan": 1}
    assert coordinates("region", region=None)[0] == [0, 0, 0]  # none was missing in the table
    assert coordinates("member", member=None)[0] == [0]
    other, counts = coordinates("town", town="Utrecht")
    assert other[-1] > 1
    assert counts["other"] == {"town": 1}
    assert coordinates("age", age=None)[0] == coordinates("age", age=float(frame["age"].median()))[0]
    _, counts = coordinates("age", shoe=43, country="BE", bought="plus", id=7)
    assert counts["new_columns"] == {"shoe": 1}


def test_values_may_be_written_in_other_ways(encoder, frame):
    usual = frame.iloc[0].to_dict() | {"vip": "true", "code": 3, "joined": pd.Timestamp("2022-03-04")}
    expected = encoder.encode(usual)
    for changes in (
        {"vip": True},
        {"vip": " true "},
        {"code": "3"},
        {"code": 3.0},
        {"code": np.int8(3)},
        {"joined": "2022-03-04"},
        {"joined": datetime.date(2022, 3, 4)},
        {"joined": datetime.datetime(2022, 3, 4, tzinfo=datetime.UTC)},
        {"joined": np.datetime64("2022-03-04")},
        {"waited": usual["waited"].total_seconds()},
        {"member": str(usual["member"])},
        {"age": str(usual["age"])},
    ):
        np.testing.assert_allclose(encoder.encode(usual | changes), expected, atol=1e-6)


def test_rows_that_do_not_fit_are_one_sentence(encoder, frame, problem):
    row = frame.iloc[0].to_dict()
    without = {name: value for name, value in row.items() if name != "income"}
    with pytest.raises(UsageError, match=r"no column 'income'; is it 'incomes'\?"):
        encoder.encode(without | {"incomes": 3})
    with pytest.raises(UsageError, match="no column 'income' and 1 more; give None"):
        encoder.encode({name: value for name, value in without.items() if name != "plan"})
    with pytest.raises(UsageError, match="no column 'age'"):
        encoder.encode(frame.drop(columns="age"))
    with pytest.raises(UsageError, match=rf"a row has 14 values here \(age, .*, …\), or {encoder.context_dim} once"):
        encoder.encode([1.0, 2.0])
    for wrong in ("north", 3, None, []):
        with pytest.raises(UsageError, match=r"a row (is a mapping|has 14 values)"):
            encoder.encode(wrong)
    for wrong in ([1, 2], {}, {3}, np.zeros(2)):
        for column in ("income", "region", "joined"):
            cell = row | {column: wrong}
            for given in (cell, [cell[name] for name in encoder.columns], pd.DataFrame([cell])):
                with pytest.raises(
                    UsageError, match=rf"holds (a list|an object) in the column '{column}'; give a number"
                ):
                    encoder.encode(given)
    with pytest.raises(UsageError, match=r"a row has 14 values"):
        encoder.encode([1.0, [2.0]])
    with pytest.raises(UsageError, match="finite"):
        encoder.encode(np.full(encoder.context_dim, np.nan))
    with pytest.raises(UsageError, match="not of a Wheel"):
        Encoder.for_problem(problems.get("wheel-0.5"))


def test_actions_have_names(encoder):
    assert encoder.action_names == ("basic", "none", "plus")
    assert encoder.action_of("plus") == 2
    with pytest.raises(UsageError, match="no action is called 'pls'; did you mean 'plus'"):
        encoder.action_of("pls")
    numbered = Encoder.for_problem(table(pd.DataFrame({"x": [0.5, 1.5, 2.5, 0.1], "y": [10, 9, 10, 9]}), label="y"))
    assert numbered.action_of(10) == 1


def test_numbers_in_an_array(problem):
    draw = np.random.default_rng(1)
    contexts = 50 + 9 * draw.normal(size=(40, 3))
    encoder = Encoder.for_problem(table(contexts, label=np.arange(40) % 2))
    expected = (contexts - contexts.mean(axis=0)) / contexts.std(axis=0)
    np.testing.assert_allclose(encoder.encode(contexts), expected, atol=1e-5)
    np.testing.assert_allclose(encoder.encode(contexts[3]), expected[3], atol=1e-5)
    np.testing.assert_allclose(encoder.encode(contexts[3].tolist()), expected[3], atol=1e-5)


def test_json_round_trip_and_version(encoder, frame):
    text = json.dumps(encoder.to_json(), allow_nan=False)
    again = Encoder.from_json(json.loads(text))
    assert again == encoder
    np.testing.assert_array_equal(again.encode(frame), encoder.encode(frame))
    with pytest.raises(UsageError, match="format 2, and this version reads 1"):
        Encoder.from_json(encoder.to_json() | {"format": 2})
    for broken in ({}, {"format": 1}, encoder.to_json() | {"rules": [{"kind": "number"}]}):
        with pytest.raises(UsageError, match="not a saved encoder"):
            Encoder.from_json(broken)


def test_counts_are_not_lost_between_threads(encoder, frame):
    counts, row = EncodeCounts(), frame.iloc[0].to_dict() | {"plan": "z"}
    threads = [threading.Thread(target=lambda: [encoder.encode(row, counts) for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts.rows == counts.unknown["plan"] == 1600


def test_the_example_of_the_docs(monkeypatch):
    """Runs the code of docs/your-own-data.md that encodes a row, where its file is."""
    root = Path(__file__).parents[2]
    blocks = re.findall(
        r"```python\n(.*?)```", (root / "docs" / "your-own-data.md").read_text(encoding="utf-8"), re.DOTALL
    )
    code = next(block for block in blocks if "Encoder" in block)
    monkeypatch.chdir(root / "examples")
    names: dict = {"table": table}
    exec(code, names)
    assert names["context"].shape == (8,)
    told = re.search(r"counts.as_dict\(\)  # (.*)", code)
    assert told is not None
    assert names["counts"].as_dict() == ast.literal_eval(told[1])
    assert names["encoder"].action_of("plus") == 2
