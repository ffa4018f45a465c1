"""Names with overrides, near misses, and every preset's fields explained."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from showdown.basics.errors import UsageError
from showdown.bench.cell import Cell
from showdown.config import parameters
from showdown.config.registry import Registry, parse_name, split_outside_brackets
from showdown.policies import policies
from showdown.problems import problems


def test_names_parse():
    assert parse_name("LinPost") == ("LinPost", {})
    assert parse_name("A[x=1, y=(2,3)]") == ("A", {"x": "1", "y": "(2,3)"})
    assert split_outside_brackets("A[x=1,y=2],B , C[z=(1,2)]") == ["A[x=1,y=2]", "B", "C[z=(1,2)]"]


@pytest.mark.parametrize("text", ["A[x=1", "A[x]", "A[=1]", "A[x=]"])
def test_malformed_names_are_refused(text):
    with pytest.raises(UsageError):
        parse_name(text)


def test_unknown_name_gets_a_near_miss():
    with pytest.raises(UsageError, match="did you mean 'LinFullPost'"):
        policies.get("linfulpost")
    with pytest.raises(UsageError, match="showdown list problems"):
        problems.get("qqqqqqq")


def test_values_are_checked():
    for text in ("wheel[delta=1.5]", "wheel[context_dim=0]", "linear[num_actions=1]", "linear[noise=-1.0]"):
        with pytest.raises(UsageError):
            problems.get(text)
    for text in ("LinPost[prior_precision=0]", "LinFullPost[noise_shape=-1]", "LinGreedy-eps0.01[epsilon=2]"):
        with pytest.raises(UsageError):
            policies.get(text)


def test_override_that_spells_a_preset_is_named_by_it():
    assert problems.name_of(problems.get("wheel[delta=0.9]")) == "wheel-0.9"
    assert problems.name_of(problems.get("wheel[delta=0.5]")) == "wheel-0.5"
    assert problems.name_of(problems.get("wheel[delta=0.8]")) is None


def test_one_name_means_one_thing():
    registry: Registry[int] = Registry("number")
    registry.add("one", 1)
    registry.add("one", 1)
    with pytest.raises(UsageError, match="two different"):
        registry.add("one", 2)
    with pytest.raises(UsageError, match="may not hold"):
        registry.add("a[b]", 3)


@pytest.mark.parametrize("entry", [*policies, *problems], ids=lambda entry: entry.name)
def test_every_field_is_explained(entry):
    for row in parameters(entry.value):
        assert row.explanation, f"{row.of}.{row.field} has no explanation"


@pytest.mark.parametrize("entry", policies, ids=lambda entry: entry.name)
def test_published_values_lie_where_a_search_would_look(entry):
    for row in parameters(entry.value):
        if isinstance(row.value, float):
            assert row.search is not None, f"{row.of}.{row.field} is a float without a search range"
        if row.search is not None:
            assert row.value in row.search, f"{row.of}.{row.field} = {row.value} is outside {row.search}"
    entry.value.check()


def test_problems_are_not_searched_through():
    assert not [
        row for entry in problems for row in parameters(entry.value) if isinstance(row.value, float) and row.search
    ]


def test_cells_keep_their_identities():
    """The hash of every preset's cell as version 0.1 wrote it; stored cells are found by it, so it may not move.

    New presets are added to the file; an entry that is there changes only with the `numerics` of its family.
    """
    golden = json.loads((Path(__file__).parent / "golden" / "identities.json").read_text())
    wheel, post = problems.get("wheel-0.5"), policies.get("LinFullPost")
    # in a process of its own, since other tests register presets in this one
    listing = "from showdown.policies import policies; print(*policies.names(), sep='\\n')"
    names = set(
        subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout.split()
    )
    assert names == set(golden["policies"]), "run `make identities` and commit tests/unit/golden/identities.json"
    for name, expected in golden["policies"].items():
        assert Cell(name, "wheel-0.5", policies.get(name), wheel, 50, 0).hash == expected, name
    for name, expected in golden["problems"].items():
        assert Cell("LinFullPost", name, post, problems.get(name), 50, 0).hash == expected, name
