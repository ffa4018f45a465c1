"""A user's own table: the two forms, what becomes of each kind of column, identity, and playing it."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest

from showdown.basics.errors import MissingDataError, UsageError
from showdown.bench.cell import Cell
from showdown.config import from_json, to_json
from showdown.data.bandit_table import as_bandit_table
from showdown.data.choose_columns import find_columns, possible_labels
from showdown.data.encode_column import MAX_CATEGORIES, encode
from showdown.play.simulate import problem_identity, simulate
from showdown.policies import policies
from showdown.problems import own_table, problems, table

ROWS = 60


@pytest.fixture
def frame() -> pd.DataFrame:
    """A number, a category of three, and a label that the number decides."""
    generator = np.random.default_rng(5)
    size = generator.normal(size=ROWS).round(4)
    colour = generator.choice(["blue", "green", "red"], ROWS)
    return pd.DataFrame({"size": size, "colour": colour, "kind": np.where(size > 0, "large", "small")})


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "shapes.csv", index=False)
    return tmp_path / "shapes.csv"


def columns_of(frame: pd.DataFrame, **options):
    return {column.name: column for column in as_bandit_table(frame, **options).columns}


# What becomes of a column


def test_numbers_are_centred_and_missing_ones_are_marked():
    encoded = encode(pd.Series([1.0, 3.0, None, 100.0, np.inf], name="x"))
    assert encoded.names == ["x", "x is missing"]
    assert (encoded.column.treatment, encoded.column.dims, encoded.column.missing) == ("number", 2, 2)
    assert "1 values that are not finite" in encoded.column.note
    filled = np.array([1.0, 3.0, 3.0, 100.0, 3.0])  # 3 is the median of what is there
    np.testing.assert_allclose(encoded.values[:, 0], (filled - filled.mean()) / filled.std(), rtol=1e-6)
    np.testing.assert_array_equal(encoded.values[:, 1], [0, 0, 1, 0, 1])
    assert encoded.values.dtype == np.float32


def test_large_numbers_keep_their_digits():
    seconds = 1.7e9 + np.arange(40.0) ** 2  # float32 alone would see steps of 128
    encoded = encode(pd.Series(seconds, name="when"))
    assert len(np.unique(encoded.values)) == 40
    assert np.isfinite(encode(pd.Series([1e300, -1e300, 5.0], name="huge")).values).all()


def test_text_that_is_nearly_all_numbers_is_numbers():
    values = [str(number * 1.5) for number in range(39)] + ["broken"]
    encoded = encode(pd.Series(values, name="reading"))
    assert (encoded.column.treatment, encoded.column.missing) == ("number", 1)
    assert encode(pd.Series(["1", "2", "x", "y"], name="code")).column.treatment == "one-hot"


def test_categories():
    encoded = encode(pd.Series(["b", "a", None, "c", "a"], name="colour"))
    assert encoded.names == ["colour=a", "colour=b", "colour=c", "colour=missing"]
    np.testing.assert_array_equal(encoded.values.argmax(axis=1), [1, 0, 3, 2, 0])
    np.testing.assert_array_equal(encoded.values.sum(axis=1), 1)
    assert encoded.column.missing == 1
    two = encode(pd.Series(["no", "yes", "no"], name="member"))
    assert (two.column.treatment, two.names) == ("0/1", ["member=yes"])
    np.testing.assert_array_equal(two.values[:, 0], [0, 1, 0])
    codes = encode(pd.Series([10, 2, 1, 2], name="code"), categorical=True)
    assert codes.names == ["code=1", "code=2", "code=10"]


@pytest.mark.parametrize(
    "values", [[True, False, True], pd.array([True, False, True], dtype="boolean"), ["True", "False", "True"]]
)
def test_booleans(values):
    encoded = encode(pd.Series(values, name="flag"))
    assert encoded.column.treatment == "0/1"
    np.testing.assert_array_equal(encoded.values[:, 0], [1, 0, 1])


@pytest.mark.parametrize("as_text", [True, False])
def test_dates_are_days(as_text):
    dates = pd.Series(["2024-01-01", "2024-01-31", None, "2024-03-01"], name="joined")
    encoded = encode(dates if as_text else pd.to_datetime(dates))
    assert (encoded.column.treatment, encoded.column.missing) == ("date", 1)
    days = np.array([0.0, 30.0, 30.0, 60.0])
    np.testing.assert_allclose(encoded.values[:, 0], (days - 30) / days.std(), atol=1e-6)


def test_five_thousand_different_strings_are_dropped_and_many_common_ones_gathered():
    names = [f"customer {number}" for number in range(5000)]
    dropped = encode(pd.Series(names, name="who")).column
    assert (dropped.treatment, dropped.dims) == ("dropped", 0)
    assert "5,000 different values in 5,000 rows" in dropped.note

    towns = [f"town {number:04}" for number in range(1000) for _ in range(2 + (number < 99))]
    gathered = encode(pd.Series(towns, name="town"))
    assert gathered.column.dims == MAX_CATEGORIES == len(gathered.names)
    assert gathered.names[:2] == ["town=town 0000", "town=town 0001"]
    assert gathered.names[-1] == "town=other"
    assert gathered.values[:, -1].sum() == 2 * (1000 - 99)
    assert "901 rarer values gathered" in gathered.column.note
    kept = encode(pd.Series(names, name="who"), keep=True)
    assert kept.column.dims == MAX_CATEGORIES


def test_dropped_columns_say_why():
    rows = 30
    frame = pd.DataFrame(
        {
            "x": np.linspace(0, 1, rows) ** 2,
            "row": np.arange(rows)[::-1] + 17,
            "user_id": np.arange(rows) ** 2,
            "square": np.arange(rows) ** 2,
            "same": "NL",
            "four": 4.0,
            "void": [None] * rows,
            "nested": [[1, 2]] * rows,
            "secret": np.arange(rows) % 3,
            "y": ["a", "b"] * (rows // 2),
        }
    )
    columns = columns_of(frame, label="y", ignore="secret")
    for name, why in {
        "row": "row number",
        "user_id": "looks like an id",
        "same": "constant: always 'NL'",
        "four": "constant: always 4",
        "void": "has no values",
        "nested": "nested",
        "secret": "as asked",
    }.items():
        assert columns[name].treatment == "dropped", name
        assert why in columns[name].note, name
    assert columns["square"].treatment == "number"  # distinct whole numbers alone do not make an id
    assert columns_of(frame, label="y", keep="row+user_id")["row"].treatment == "number"
    with pytest.raises(UsageError, match=r"no column is left to be the context.*constant"):
        as_bandit_table(frame[["same", "y"]], label="y")


def test_a_third_missing_is_counted_and_filled(frame):
    generator = np.random.default_rng(1)
    holes = frame.mask(generator.random(frame.shape) < 0.3)
    found = as_bandit_table(holes, label="kind")
    columns = {column.name: column for column in found.columns}
    labelled = holes["kind"].notna()
    assert found.rows == labelled.sum()
    assert found.rows_left_out == columns["kind"].missing == (~labelled).sum() > 5
    for name in ("size", "colour"):
        assert columns[name].missing == holes.loc[labelled, name].isna().sum() > 5
    assert found.context_dim == 2 + 4  # the number and its mark; three colours and missing
    assert np.isfinite(found.contexts).all()


# The two forms


def test_a_label_pays_one_for_the_right_class(frame):
    found = as_bandit_table(frame, label="kind")
    assert found.actions == ("large", "small")
    assert found.classes == frame["kind"].value_counts().to_dict()
    np.testing.assert_array_equal(found.payoffs, np.eye(2))
    np.testing.assert_array_equal(found.labels, (frame["kind"] == "small").to_numpy())
    assert found.context_names == ("size", "colour=blue", "colour=green", "colour=red")


def test_a_label_may_be_named_by_position_and_classes_are_ordered_as_numbers():
    frame = pd.DataFrame({"x": [0.5, 1.0, 2.0, 4.0], "y": [10, 9, 2, 10]})
    assert as_bandit_table(frame, label="-1").actions == as_bandit_table(frame, label="1").actions == ("2", "9", "10")


def test_costs_of_mistakes():
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.4, 0.3], "y": ["ham", "spam", "a+b", "ham"]})
    found = as_bandit_table(frame, label="y", costs="ham:20+a+b:0.5")
    assert found.actions == ("a+b", "ham", "spam")
    np.testing.assert_allclose(found.payoffs, [[1, -0.5, -0.5], [-20, 1, -20], [0, 0, 1]])
    with pytest.raises(UsageError, match="did you mean 'spam'"):
        as_bandit_table(frame, label="y", costs="span:3")
    for wrong in ("ham", "ham:-1", "ham:inf", "ham:x", "ham:1e60"):
        with pytest.raises(UsageError, match="class:cost"):
            as_bandit_table(frame, label="y", costs=wrong)


def test_a_reward_matrix_by_class_name_or_in_order(frame, tmp_path, path):
    np.savetxt(tmp_path / "plain.csv", [[1, 0, -2], [0, 5, -2]], delimiter=",", fmt="%g")
    (tmp_path / "named.csv").write_text("class;buy;sell;wait\nsmall;0;5;-2\nlarge;1;0;-2\n")
    plain = table(path, label="kind", reward_matrix=tmp_path / "plain.csv")
    named = problems.get(f"table[path={path},label=kind,reward_matrix={tmp_path / 'named.csv'}]")
    array = table(frame, label="kind", reward_matrix=np.array([[1, 0, -2], [0, 5, -2]]))
    assert plain.digest == named.digest == array.digest != table(frame, label="kind").digest
    assert named.bandit_table().actions == ("buy", "sell", "wait")
    np.testing.assert_array_equal(named.load().payoffs, [[1, 0, -2], [0, 5, -2]])
    for text, why in {
        "1,2\n3,4\n5,6\n": "3 rows and the label 2 classes",
        "class,a,b\nlarge,1,2\nsmal,3,4\n": "not so for 'small'",
        "class,a,b\nlarge,1,2\nsmall,,4\n": "missing or not finite",
        "class,a\nlarge,1\nsmall,2\n": "at least two columns",
    }.items():
        (tmp_path / "wrong.csv").write_text(text)
        with pytest.raises(UsageError, match=why):
            table(path, label="kind", reward_matrix=tmp_path / "wrong.csv")


def test_reward_columns_are_raw_and_the_rest_is_context(frame):
    generator = np.random.default_rng(2)
    rewards = 100 + 10 * generator.normal(size=(ROWS, 3))
    whole = frame.assign(**{f"pay_{action}": rewards[:, action] for action in range(3)})
    found = as_bandit_table(whole, rewards="pay_*", ignore="kind")
    assert found.actions == ("pay_0", "pay_1", "pay_2")
    np.testing.assert_array_equal(found.payoffs[found.labels], rewards.astype(np.float32))
    assert found.context_dim == 4
    digests = {
        table(whole, rewards="pay_*", ignore="kind").digest,
        table(whole, rewards=["pay_0", "pay_1", "pay_2"], ignore=["kind"]).digest,
        table(frame[["size", "colour"]], rewards=rewards).digest,
        problems.get(f"table[digest={table(whole, rewards='pay_0+pay_1+pay_2', ignore='kind').digest}]").digest,
    }
    assert digests == {found.digest}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_rewards_that_are_not_finite_are_refused(bad):
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "a": [0.0, 1.0, 0.5], "b": [1.0, bad, 2.0]})
    with pytest.raises(UsageError, match=r"'b' has 1 values .* \(the first in row 2\)"):
        as_bandit_table(frame, rewards="a+b")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"label": "knid"}, "no column is called 'knid'; did you mean 'kind'"),
        ({"label": "zzz"}, "the columns are size, colour, kind"),
        ({"label": "7"}, "no column is called '7'"),
        ({"rewards": "size"}, "at least two columns"),
        ({"rewards": "size+colour"}, "'colour' does not hold numbers"),
        ({"label": "kind", "rewards": "size"}, "not both"),
        ({"rewards": "size+kind", "costs": "a:1"}, "go with a label"),
        ({"label": "kind", "ignore": "colr"}, "did you mean 'colour'"),
        ({"label": "size"}, "a measurement or a name"),
    ],
)
def test_requests_that_make_no_problem(frame, options, why):
    with pytest.raises(UsageError, match=re.escape(why)):
        as_bandit_table(frame, **options)


def test_one_class_only_is_refused(frame):
    with pytest.raises(UsageError, match=r"one class only \('large'\)"):
        table(frame.assign(kind="large"), label="kind")
    with pytest.raises(UsageError, match="has no values"):
        table(frame.assign(kind=None), label="kind")


def test_a_form_must_be_named_and_likely_labels_are_told(frame, path):
    assert list(possible_labels(frame)) == ["kind", "colour"]
    for data in (frame, path):
        with pytest.raises(UsageError, match="it could be 'kind' or 'colour'"):
            table(data)
    with pytest.raises(UsageError, match="two columns called 'a'"):
        table(pd.DataFrame([[1, 2]], columns=["a", "a"]), label="a")


def test_lists_of_columns():
    names = ["a", "b", "c+d", "reward_x", "reward_y"]
    assert find_columns("a+c+d", names) == ["a", "c+d"]
    assert find_columns("reward_*+b", names) == ["reward_x", "reward_y", "b"]
    assert find_columns("", names) == []
    with pytest.raises(UsageError, match="no column is called 'q\\*'"):
        find_columns("q*", names)


# In memory


def test_arrays_in_memory(frame):
    generator = np.random.default_rng(3)
    contexts, labels = generator.normal(size=(30, 2)), np.array(["p", "q"] * 15)
    beside = table(contexts, label=labels)
    assert beside.digest == table({"x": contexts, "y": labels}, label="y").digest
    assert beside.digest == table(np.column_stack([contexts, np.arange(30) % 2]), label=-1).digest
    assert beside.bandit_table().context_names == ("column_0", "column_1")
    for data, options, why in (
        (contexts, {"label": labels[:10]}, "30 rows and its label array 10"),
        (frame.assign(label=1), {"label": np.arange(ROWS) % 2}, "a column 'label' already"),
        (np.zeros((2, 2, 2)), {"label": "0"}, "3 dimensions"),
        (np.zeros((0, 2)), {"label": "0"}, "no rows"),
        ({"x": contexts, "y": labels[:3]}, {"label": "y"}, "one length"),
        ((contexts, labels), {"label": "0"}, "its parts have different lengths; give a DataFrame"),
    ):
        with pytest.raises(UsageError, match=why):
            table(data, **options)


# Identity


def test_identity_follows_content_and_not_the_spelling_of_a_path(frame, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy.csv").write_bytes(path.read_bytes())
    spelled = [
        problems.get(text)
        for text in (
            f"table[path={path},label=kind]",
            "table[path=shapes.csv,label=kind]",
            "table[path=./copy.csv,label=2]",
            "table[path=copy.csv,label=kind,delimiter=comma,header=yes]",
        )
    ]
    spelled.append(table(frame, label="kind"))
    assert len({problem_identity(problem) for problem in spelled}) == 1
    assert len({Cell("U", "t", policies.get("Uniform"), problem, 2, 0).hash for problem in spelled}) == 1
    assert spelled[0] == spelled[1]
    assert spelled[0].horizon == ROWS

    others = [
        problems.get("table[path=shapes.csv,label=colour]"),
        problems.get("table[path=shapes.csv,label=kind,ignore=colour]"),
        problems.get("table[path=shapes.csv,label=kind,costs=small:2]"),
    ]
    path.write_text(path.read_text().replace("blue", "red", 1))
    others.append(problems.get("table[path=shapes.csv,label=kind]"))
    assert len({problem_identity(problem) for problem in [spelled[0], *others]}) == 5


def test_configuration_survives_json_and_finds_its_file_again(path):
    problem = problems.get(f"table[path={path},label=kind,horizon=20]")
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again == problem
    assert hash(again) == hash(problem)
    own_table._read_bandit_table.cache_clear()
    np.testing.assert_array_equal(again.load().contexts, problem.load().contexts)
    assert again.spec(again.load())[:2] == (4, 2)
    path.write_text(path.read_text().replace("blue", "red", 1))
    with pytest.raises(UsageError, match="no longer holds what it held"):
        again.load()
    path.unlink()
    with pytest.raises(UsageError, match="there is no file"):
        again.load()


def test_a_table_in_memory_is_missing_in_another_process(frame, monkeypatch):
    problem = table(frame, label="kind")
    again = from_json(to_json(problem))
    assert again == problem
    assert again.load().contexts.shape == (ROWS, 4)
    monkeypatch.setattr(own_table, "_in_memory", {})
    with pytest.raises(MissingDataError, match="given in memory and this process does not have it"):
        again.load()


def test_a_bare_or_unread_table_says_what_to_do(path):
    bare = problems.get("table")
    with pytest.raises(MissingDataError, match="needs a file of yours"):
        simulate(policies.get("Uniform"), bare, trials=1)
    with pytest.raises(MissingDataError, match="needs a file of yours"):
        bare.load()
    with pytest.raises(UsageError, match="not been read yet"):
        simulate(policies.get("Uniform"), own_table.Table(path=str(path), label="kind"), trials=1)


# Playing


@pytest.mark.parametrize("preset", ["Uniform", "LinFullPost"])
def test_a_table_is_played(frame, preset):
    problem = table(frame, label="kind")
    outcome = simulate(policies.get(preset), problem, trials=2, seed=1)
    assert outcome.spec[:2] == (4, 2)
    assert outcome.action_counts.sum() == 2 * ROWS == 2 * problem.horizon
    share = outcome.cumulative.mean() / ROWS
    # Uniform's share is binomial, 0.5 with s.d. 0.046: 5 s.d. either way fails once in two million. LinFullPost's was
    # 0.26 with s.d. 0.04 over 24 trials: 0.4 is 3.5 s.d. above, once in four thousand seeds; the seed here is constant.
    assert 0.27 < share < 0.73 if preset == "Uniform" else share < 0.4


def test_reward_columns_are_played_at_their_own_scale(frame):
    rewards = np.stack([np.full(ROWS, 10.0), np.full(ROWS, 30.0), np.full(ROWS, 20.0)], axis=1)
    problem = table(frame[["size"]], rewards=rewards, horizon=30)
    outcome = simulate(policies.get("Uniform"), problem, trials=2)
    counts = outcome.action_counts
    np.testing.assert_allclose(outcome.cumulative, 20 * counts[:, 0] + 10 * counts[:, 2])


def test_the_horizon_may_not_be_longer_than_the_table(frame, path):
    with pytest.raises(UsageError, match="longer than the 60 rows"):
        problems.get(f"table[path={path},label=kind,horizon=61]")
    with pytest.raises(UsageError, match="longer than the 60 rows"):
        simulate(policies.get("Uniform"), dataclasses.replace(table(frame, label="kind"), horizon=99), trials=1)
