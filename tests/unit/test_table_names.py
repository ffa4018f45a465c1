"""A user's table is called by its file, everywhere; names change no identity, and paths stay out of tables."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from showdown.bench.plan import plan
from showdown.bench.spelled_names import shortened
from showdown.bench.store import Store
from showdown.bench.suite import Suite
from showdown.problems import table


@pytest.fixture
def customers(tmp_path):
    frame = pd.DataFrame({"age": range(20, 40), "spend": [1.5, 2.5] * 10, "bought": ["no", "yes"] * 10})
    frame = frame.assign(plan=["a", "b", "c", "a"] * 5)
    (tmp_path / "other").mkdir()
    frame.to_csv(tmp_path / "customers.csv", index=False)
    frame.iloc[:12].to_csv(tmp_path / "other" / "customers.csv", index=False)
    return tmp_path / "customers.csv"


def names(store, *problems: str) -> list[str]:
    suite = Suite(name="mine", policies=("Uniform",), problems=problems, trials=2)
    return [item.cell.problem_name for item in plan(suite, store)]


def test_a_table_is_called_by_its_file(customers, tmp_path):
    store = Store(tmp_path / "results")
    spelled = f"table[path={customers},label=bought]"
    assert names(store, spelled, "wheel-0.5") == ["customers", "wheel-0.5"]
    assert names(store, f"table[path={customers},label=bought,name=march]") == ["march"]


def test_two_tables_with_one_name_are_told_apart_by_their_label(customers, tmp_path):
    store = Store(tmp_path / "results")
    both = [f"table[path={customers},label={label}]" for label in ("bought", "plan")]
    assert names(store, *both) == ["customers:bought", "customers:plan"]
    again = [f"table[path={path},label=bought]" for path in (customers, tmp_path / "other" / "customers.csv")]
    found = names(store, *again)
    assert len(set(found)) == 2
    assert all(name.startswith("customers:bought:") for name in found)


def test_a_name_does_not_count_for_the_identity(customers, tmp_path):
    """Cells that were stored before tables had names are found again."""
    store = Store(tmp_path / "results")
    suite = Suite(name="mine", policies=("Uniform",), problems=(f"table[path={customers},label=bought]",), trials=2)
    (planned,) = plan(suite, store)
    named = replace(planned.cell, problem=replace(planned.cell.problem, name="march"), problem_name="march")
    assert named.hash == planned.cell.hash
    assert "name" not in planned.cell.identity["problem"]
    assert str(customers) not in str(planned.cell.identity)


def test_names_of_older_stores_are_shortened_and_never_merged():
    spelled = {
        "table[path=/home/me/customers.csv,label=bought]": "digest 1",
        "table[path=/tmp/customers.csv.gz,label=bought]": "digest 1",
        "wheel-0.5": "wheel",
    }
    assert set(shortened(spelled).values()) == {"customers"}
    spelled["table[path=/home/me/customers.csv,label=plan]"] = "digest 2"
    assert set(shortened(spelled).values()) == {"customers:bought", "customers:plan"}
    assert shortened({"table[path=x.csv,label=y]": "1", "x": "2"}) == {"table[path=x.csv,label=y]": "x:y"}
    assert shortened({"table[nonsense": "1", "LinPost": "2"}) == {}


def test_a_table_in_memory_has_a_name_too():
    frame = pd.DataFrame({"a": [1.5, 2.5] * 10, "y": ["p", "q"] * 10})
    assert table(frame, label="y").called == "table"
    assert table(frame, label="y", name="trial [2]").called == "trial -2-"
