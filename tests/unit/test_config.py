"""Configurations: PyTree, JSON, overrides, comments."""

from __future__ import annotations

import json

import jax
import pytest

from showdown.config import all_fields, field_comments, from_json, override, to_json
from showdown.errors import UsageError
from showdown.policies.linear import LinearKnownNoise
from showdown.policies.wrappers import EpsilonGreedy, WarmUp
from showdown.problems.wheel import Wheel

NESTED = WarmUp(inner=EpsilonGreedy(inner=LinearKnownNoise(), epsilon=0.1))


def test_floats_are_leaves_and_the_rest_is_static():
    assert sorted(jax.tree.leaves(NESTED)) == [0.1, 0.25, 0.25, 1.0]
    changed = override(NESTED, {"epsilon": 0.2, "prior_precision": 3.0})
    assert jax.tree.structure(changed) == jax.tree.structure(NESTED)
    assert jax.tree.structure(override(NESTED, {"pulls": 1})) != jax.tree.structure(NESTED)


def test_override_reaches_nested_fields_and_leaves_the_original():
    changed = override(NESTED, {"noise_variance": "2", "pulls": "1", "covariance": "diagonal", "intercept": "false"})
    assert changed.inner.inner == LinearKnownNoise(noise_variance=2.0, covariance="diagonal", intercept=False)
    assert changed.pulls == 1
    assert NESTED.pulls == 3


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"noise_varianc": "1"}, "did you mean 'noise_variance'"),
        ({"pulls": "1.5"}, "pulls must be int, not 1.5"),
        ({"epsilon": "many"}, "epsilon must be float, not 'many'"),
        ({"epsilon": "True"}, "epsilon must be float, not True"),
        ({"epsilon": "1e999"}, "finite"),
        ({"covariance": "round"}, "one of full, diagonal, precision-diagonal"),
        ({"zzz": "1"}, "its fields are"),
    ],
)
def test_bad_overrides_are_one_sentence(changes, sentence):
    with pytest.raises(UsageError, match=sentence) as caught:
        override(NESTED, changes)
    assert "\n" not in str(caught.value)


def test_json_round_trip_keeps_equality_and_hash():
    again = from_json(json.loads(json.dumps(to_json(NESTED))))
    assert again == NESTED
    assert hash(again) == hash(NESTED)
    with pytest.raises(UsageError, match="Nonesuch"):
        from_json({"kind": "Nonesuch"})


def test_every_field_of_wheel_has_its_comment():
    comments = field_comments(Wheel)
    assert set(comments) == set(all_fields(Wheel()))
    assert all(comments.values())
    assert comments["delta"].startswith("δ")
