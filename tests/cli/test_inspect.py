"""`showdown inspect` on tables of every kind, and `showdown run` on what it proposes."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROWS = 120


@pytest.fixture
def customers(tmp_path):
    """A table with one column of every kind, written with semicolons."""
    generator = np.random.default_rng(3)
    age = generator.integers(18, 80, ROWS)
    frame = pd.DataFrame(
        {
            "customer_id": np.arange(1000, 1000 + ROWS),
            "age": age,
            "income": np.where(generator.random(ROWS) < 0.3, np.nan, generator.normal(30, 5, ROWS).round(2)),
            "region": generator.choice(["north", "south", "east"], ROWS),
            "country": "NL",
            "bought": np.where(age > 50, "plus", "basic"),
        }
    )
    frame.to_csv(tmp_path / "customers.csv", sep=";", index=False)
    return frame


def test_what_was_understood_is_printed(showdown, customers):
    answer = showdown("inspect", "customers.csv", "--label", "bought")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert answer.out.startswith("customers.csv: semicolon-separated, with a header\n")
    for expected in (
        "rows 120",
        "context dimension 6, from 3 columns",
        "actions 2",
        f"missing values {customers['income'].isna().sum()}",
        f"plus {(customers['bought'] == 'plus').sum()} {(customers['bought'] == 'plus').mean():.1%}",
        "age number 1 0",
        f"income number 2 {customers['income'].isna().sum()}",
        "region one-hot 3 0",
        "bought label 0",
        "country constant: always 'NL'",
    ):
        assert expected.split() in lines, expected
    assert "customer_id  looks like a row number" in answer.out
    assert "\nwhich method:  showdown recommend customers.csv --label bought\n" in answer.out
    assert answer.out.endswith("showdown run --problems 'table[path=customers.csv,label=bought]'\n")


def test_features_of_each_action_are_found_and_what_to_add_is_said(showdown, tmp_path):
    draw = np.random.default_rng(0)
    columns = {f"price.{name}": draw.uniform(1, 9, ROWS).round(2) for name in ("heinz", "hunts")}
    frame = pd.DataFrame({**columns, "income": draw.normal(size=ROWS), "choice": ["heinz", "hunts"] * (ROWS // 2)})
    frame.to_csv(tmp_path / "ketchup.csv", index=False)
    for options in ((), ("--label", "choice")):
        assert "\n  --label choice --features price\n" in showdown("inspect", "ketchup.csv", *options).out
    shelf = {"feat.heinz": [0, 1] * (ROWS // 2), "feat.hunts": 0}  # one of them never is on display
    frame.assign(**shelf).to_csv(tmp_path / "shelf.csv", index=False)
    for options in ((), ("--label", "choice")):
        assert "\n  --label choice --features price+feat\n" in showdown("inspect", "shelf.csv", *options).out
    answer = showdown("inspect", "ketchup.csv", "--label", "choice", "--features", "price", "--payoff", "price")
    assert ["features", "1", "of", "each", "action"] in [line.split() for line in answer.out.splitlines()]
    assert "look like features" not in answer.out
    assert answer.out.endswith("'table[path=ketchup.csv,label=choice,features=price,payoff=price]'\n")


def test_what_it_proposes_can_be_run(showdown, customers):
    proposed = showdown("inspect", "customers.csv", "--label", "bought", "--costs", "plus:3", "--json").json["problem"]
    assert proposed == "table[path=customers.csv,label=bought,costs=plus:3]"
    request = ("run", "--problems", proposed, "--policies", "Uniform", "--trials", "2")
    first = showdown(*request, "--json")
    assert first.code == 0
    assert [cell["status"] for cell in first.json["cells"]] == ["done"]
    assert first.json["cells"][0]["horizon"] == ROWS
    same = ("run", "--problems", proposed.replace("customers", "./customers"), *request[3:])
    assert showdown(*same).out.startswith("nothing to do")


def test_reward_columns_by_pattern_are_inspected_and_run(showdown, tmp_path):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(30, 4)), columns=["x", "reward_a", "reward_b", "reward_c"])
    frame.to_parquet(tmp_path / "rewards.parquet")
    answer = showdown("inspect", "rewards.parquet", "--rewards", "reward_*", "--json").json
    assert (answer["rows"], answer["context_dim"], answer["num_actions"]) == (30, 1, 3)
    assert [action["action"] for action in answer["actions"]] == ["reward_a", "reward_b", "reward_c"]
    rewards = frame[["reward_a", "reward_b", "reward_c"]].to_numpy()
    np.testing.assert_allclose([action["mean_reward"] for action in answer["actions"]], rewards.mean(0), rtol=1e-5)
    np.testing.assert_allclose(answer["mean_best_reward"], rewards.max(1).mean(), rtol=1e-5)
    assert sum(action["best_share"] for action in answer["actions"]) == pytest.approx(1)
    assert showdown("run", "--problems", answer["problem"], "--policies", "Uniform", "--trials", "1").code == 0


def test_without_a_label_it_says_what_could_be_one(showdown, customers):
    answer = showdown("inspect", "customers.csv")
    assert answer.code == 0
    assert "not known: name a label or reward columns" in answer.out
    assert answer.out.index("--label bought  (2 classes)") < answer.out.index("--label region  (3 classes)")
    assert "--label customer_id" not in answer.out
    assert list(showdown("inspect", "customers.csv", "--json").json["possible_labels"])[:2] == ["bought", "region"]


def test_many_distinct_strings_and_no_header(showdown, tmp_path):
    generator = np.random.default_rng(0)
    lines = [f"{generator.normal():.4f},name {row},{'ab'[row % 2]}" for row in range(5000)]
    (tmp_path / "plain.csv").write_text("\n".join(lines))
    answer = showdown("inspect", "plain.csv", "--label", "-1").out
    assert "comma-separated, without a header" in answer
    assert "column_1  looks like an id or free text: 5,000 different values in 5,000 rows" in answer


def test_wide_tables_are_cut_short_in_print_and_whole_in_json(showdown, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 70))).assign(y=["a", "b"] * 10)
    frame.to_csv(tmp_path / "wide.csv", index=False)
    assert "only 60 columns" in showdown("inspect", "wide.csv", "--label", "y", "--header", "yes").out
    assert len(showdown("inspect", "wide.csv", "--label", "y", "--header", "yes", "--json").json["columns"]) == 71


@pytest.mark.parametrize(
    ("content", "arguments", "code", "why"),
    [
        (b"", (), 2, "it is empty"),
        (bytes(range(256)), (), 2, "binary file"),
        (b"<html><body>no</body></html>", (), 2, "web page (HTML)"),
        (b"x,y\n1,a\n2,a\n4,a\n", ("--label", "y"), 2, "one class only ('a')"),
        (b"x,why\n1,a\n2,b\n4,a\n", ("--label", "wy"), 2, "did you mean 'why'?"),
        (b"x,a,b\n1,2,3\n4,5,inf\n", ("--rewards", "a+b"), 2, "missing or not finite"),
        (b"x,y\n1,a\n2,b\n4,a\n", ("--label", "y", "--delimiter", ","), 2, "delimiter must be one of"),
        (None, (), 2, "there is no file data.csv"),
    ],
)
def test_every_refusal_is_one_sentence(showdown, tmp_path, content, arguments, code, why):
    if content is not None:
        (tmp_path / "data.csv").write_bytes(content)
    answer = showdown("inspect", "data.csv", *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert why in answer.err
    assert answer.err.count("\n") == 1
    assert answer.err.startswith("showdown: ")


def test_a_path_that_no_name_can_hold_is_told(showdown, tmp_path):
    (tmp_path / "a,b.csv").write_text("x,y\n1,a\n2,b\n4,a\n")
    answer = showdown("inspect", "a,b.csv", "--label", "y")
    assert answer.code == 0
    assert "play it with showdown.problems.table(...) in Python" in answer.out


def test_warnings_are_shown_by_inspect_and_run(showdown, customers, tmp_path):
    when = [f"0{1 + row % 9}/04/2020" for row in range(ROWS)]
    frame = customers.assign(code=(customers["bought"] == "plus").astype(int), when=when)
    frame.to_csv(tmp_path / "leak.csv", index=False)
    answer = showdown("inspect", "leak.csv", "--label", "bought")
    assert answer.code == 0
    assert "\nwarnings:\n- the column 'code' equals the label" in answer.out
    assert "- the dates in 'when' could be day/month or month/day" in answer.out
    assert "when    date" in " ".join(answer.out.splitlines())
    assert "day first: 03/04/2020 is 3 April" in answer.out
    warnings = showdown("inspect", "leak.csv", "--label", "bought", "--json").json["warnings"]
    assert len(warnings) == 3
    assert warnings[1].startswith("the column 'age' decides the label in 99.2% of the rows")  # above 50
    name = "table[path=leak.csv,label=bought]"
    played = showdown("run", "--problems", name, "--policies", "Uniform", "--trials", "1", "--dry-run")
    assert [line for line in played.err.splitlines() if line.startswith("leak:")] == [
        f"leak: {each}" for each in warnings
    ]


def test_a_log_is_sent_to_evaluate(showdown, tmp_path):
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"x": draw.normal(size=40), "action": list("ab") * 20, "reward": draw.integers(0, 2, 40)})
    frame.assign(propensity=draw.uniform(0.1, 0.9, 40)).to_csv(tmp_path / "log.csv", index=False)
    command = "showdown evaluate log.csv --action action --reward reward --propensity propensity"
    for arguments in ((), ("--label", "action")):
        answer = showdown("inspect", "log.csv", *arguments)
        assert answer.code == 0
        assert command in answer.out
        assert "showdown run" not in answer.out
    assert showdown("inspect", "log.csv", "--json").json["log"]["propensity"] == "propensity"
    name = "table[path=log.csv,label=action]"
    played = showdown("run", "--problems", name, "--policies", "Uniform", "--trials", "1", "--dry-run")
    assert (played.code, played.out) == (2, "")
    assert command.replace("log.csv", "FILE") in played.err
    kept = showdown("inspect", "log.csv", "--label", "action", "--keep", "propensity")
    assert "showdown run" in kept.out


@pytest.mark.parametrize("extra", [(), ("--horizon", "50")])
def test_a_table_without_a_path_is_a_usage_error(showdown, extra):
    answer = showdown("run", "--problems", "table", "--policies", "Uniform", "--trials", "1", *extra)
    assert (answer.code, answer.out) == (2, "")
    assert "table needs a file of yours: table[path=FILE,label=COLUMN]" in answer.err
    assert answer.err.count("\n") == 1
    every = showdown("run", "--problems", "ta*,wheel-0.5", "--policies", "Uniform", "--trials", "1", "--dry-run")
    assert every.code == 0  # a pattern does not mean the table that is not there
    assert "wheel-0.5" in every.out


def test_the_guide_shows_what_is_printed(showdown):
    root = Path(__file__).parents[2]
    guide = (root / "docs" / "your-own-data.md").read_text()
    shutil.copy(root / "examples" / "customers.csv", ".")
    answer = showdown("inspect", "customers.csv", "--label", "bought")
    assert f"$ showdown inspect customers.csv --label bought\n{answer.out}```" in guide
