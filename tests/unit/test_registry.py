"""Names with overrides, near misses, and every preset's fields explained."""

from __future__ import annotations

import dataclasses

import pytest

from showdown.config import field_comments, is_config
from showdown.errors import UsageError
from showdown.policies import policies
from showdown.problems import problems
from showdown.registry import Registry, parse_name, split_outside_brackets


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
def test_every_field_is_explained_and_every_module_says_what_it_is(entry):
    value = entry.value
    while value is not None:
        comments = field_comments(type(value))
        for field in dataclasses.fields(value):
            assert comments.get(field.name), f"{type(value).__name__}.{field.name} has no comment on its line"
        nested = [getattr(value, field.name) for field in dataclasses.fields(value)]
        value = next((item for item in nested if is_config(item)), None)
