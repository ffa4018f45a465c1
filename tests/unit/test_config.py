"""Configurations: PyTree, JSON, overrides, what fields say about themselves, and checks."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Literal, Optional

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.bench.cell import Cell
from showdown.config import (
    Configuration,
    all_fields,
    at_least,
    config,
    from_json,
    log,
    override,
    param,
    parameters,
    positive,
    probability,
    required,
    strictly_between,
    to_json,
)
from showdown.policies.linear import LinearGreedy, LinearKnownNoise
from showdown.policies.wrappers import EpsilonGreedy, WarmUp
from showdown.problems.wheel import Wheel

NESTED = WarmUp(inner=EpsilonGreedy(inner=LinearKnownNoise(), epsilon=0.1))


class Guess(Configuration, ABC):
    """An abstract type that is neither a policy nor a problem."""

    @abstractmethod
    def value(self) -> float: ...


@config
class Sure(Guess):
    level: float = param(0.5, "how high", positive, log(0.01, 10))
    rounds: int = param(2, "how often", at_least(1))

    def value(self) -> float:
        return self.level


@config
class Unsure(Guess):
    level: float = param(1.0, "how high at first", positive)
    spread: float = param(0.1, "how wide", strictly_between(0, 1))

    def value(self) -> float:
        return self.level + self.spread


@config
class Plain:
    """Extends nothing, and has no version of its numbers."""

    share: float = param(0.5, "a share", probability)


@config
class Panel:
    """Holds configurations and floats in every way there is."""

    guesses: tuple[Guess, ...] = param(required, "who is asked")
    plain: Plain | None = param(None, "one more")
    limit: float | None = param(None, "at most this", positive)
    floor: Optional[float] = param(None, "at least this")  # noqa: UP045  (the older spelling counts too)
    weights: tuple[float, ...] = param((), "of each", positive)
    sizes: tuple[int, ...] = param((4, 2), "static, as counts are")
    mode: Literal["mean", "best"] = param("mean", "how to agree")
    loud: bool = param(False, "whether to say so")


PANEL = Panel(guesses=(Sure(), Unsure()), plain=Plain(), limit=2.0, weights=(0.25, 0.75))


def test_floats_are_leaves_and_the_rest_is_static():
    assert sorted(jax.tree.leaves(NESTED)) == [0.1, 0.25, 0.25, 1.0]
    changed = override(NESTED, {"epsilon": 0.2, "prior_precision": 3.0})
    assert jax.tree.structure(changed) == jax.tree.structure(NESTED)
    assert jax.tree.structure(override(NESTED, {"pulls": 1})) != jax.tree.structure(NESTED)


def test_floats_and_configurations_in_unions_and_tuples_are_leaves_too():
    assert sorted(jax.tree.leaves(PANEL)) == [0.1, 0.25, 0.5, 0.5, 0.75, 1.0, 2.0]
    doubled = jax.tree.map(lambda leaf: 2 * leaf, PANEL)
    assert doubled.guesses == (Sure(level=1.0), Unsure(level=2.0, spread=0.2))
    assert (doubled.plain, doubled.limit, doubled.floor) == (Plain(share=1.0), 4.0, None)
    assert (doubled.weights, doubled.sizes) == ((0.5, 1.5), (4, 2))
    assert len(jax.tree.leaves(override(PANEL, {"floor": 0.5, "limit": "none"}))) == 7
    asked = jax.jit(lambda panel: sum(guess.value() for guess in panel.guesses))(PANEL)
    assert float(asked) == pytest.approx(1.6)


def test_an_int_given_to_a_float_field_is_a_float():
    one, same = LinearKnownNoise(prior_precision=1), LinearKnownNoise(prior_precision=1.0)
    assert one == same
    assert hash(one) == hash(same)
    assert repr(one) == repr(same)
    cells = [Cell("", "", policy, Wheel(), 1, 0) for policy in (WarmUp(inner=one), WarmUp(inner=same))]
    assert cells[0].hash == cells[1].hash
    panel = Panel(guesses=(Sure(level=1),), limit=2, weights=(1, 2), sizes=(3,))
    assert [type(leaf) for leaf in jax.tree.leaves(panel)] == [float] * 4
    assert type(panel.sizes[0]) is int
    with pytest.raises(UsageError, match="an integer of about 400 digits"):
        Sure(level=10**400)


def test_what_transformations_put_into_fields_passes_untouched():
    sentinel = object()
    rebuilt = jax.tree.unflatten(jax.tree.structure(Sure()), [sentinel])
    assert rebuilt.level is sentinel
    scalar = np.int64(3)
    assert Sure(level=scalar).level is scalar
    batched = jax.vmap(lambda level: Sure(level=level))(jnp.arange(3.0))
    assert batched.level.shape == (3,)
    with pytest.raises(UsageError, match=r"level must be positive, not 0\.0"):
        batched.check()
    jax.jit(lambda sure: [sure.check(), sure.level][1])(Sure())  # inside one there is nothing to check


def test_override_reaches_nested_fields_and_leaves_the_original():
    changed = override(NESTED, {"noise_variance": "2", "pulls": "1", "covariance": "diagonal", "intercept": "false"})
    assert changed.inner.inner == LinearKnownNoise(noise_variance=2.0, covariance="diagonal", intercept=False)
    assert changed.pulls == 1
    assert NESTED.pulls == 3
    assert override(NESTED, {"inner.inner.noise_variance": "2"}).inner.inner.noise_variance == 2.0


def test_override_in_a_tuple_sets_every_member_that_has_the_field_or_the_one_a_path_names():
    assert [guess.level for guess in override(PANEL, {"level": "3"}).guesses] == [3.0, 3.0]
    assert override(PANEL, {"rounds": 5}).guesses == (Sure(rounds=5), Unsure())
    assert override(PANEL, {"guesses.1.level": "3"}).guesses == (Sure(), Unsure(level=3.0))
    assert override(PANEL, {"weights": "(1, 2)"}).weights == (1.0, 2.0)
    assert override(PANEL, {"weights.1": "2"}).weights == (0.25, 2.0)
    assert override(PANEL, {"guesses": (Unsure(),)}).guesses == (Unsure(),)
    assert override(PANEL, {"plain": "none"}).plain is None
    outer = Outer(panel=PANEL)
    assert override(outer, {"guesses.0.level": 3}).panel.guesses[0].level == 3.0


@config
class Outer:
    panel: Panel = param(required, "inside")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"noise_varianc": "1"}, "did you mean 'noise_variance'"),
        ({"pulls": "1.5"}, "pulls must be int, not 1.5"),
        ({"epsilon": "many"}, "epsilon must be float, not 'many'"),
        ({"epsilon": "True"}, "epsilon must be float, not True"),
        ({"epsilon": "1e999"}, "finite"),
        ({"epsilon": "1e39"}, "epsilon must be at most 3.4e.38 in size, the largest float32, not 1e.39"),
        ({"epsilon": "9" * 400}, "not an integer of about 400 digits"),
        ({"pulls": "9" * 400}, "pulls must be at most 2147483647 in size, the largest int32, not an integer of about"),
        ({"pulls": "9" * 5000}, r"pulls must be int, not .*… \(5002 characters\)"),
        ({"pulls": "(" * 500}, "pulls must be int"),
        ({"covariance": "round"}, "one of full, diagonal, precision-diagonal"),
        ({"zzz": "1"}, "its fields are"),
        ({"inner.zzz": "1"}, "has no field 'inner.zzz'"),
        ({"pulls.0": "1"}, "has no field 'pulls.0'"),
    ],
)
def test_bad_overrides_are_one_sentence(changes, sentence):
    with pytest.raises(UsageError, match=sentence) as caught:
        override(NESTED, changes)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_bad_overrides_of_tuples_are_one_sentence():
    for changes, sentence in (
        ({"guesses.2.level": 1}, "guesses has 2 members, numbered from 0, and none is '2'"),
        ({"guesses.first.level": 1}, "and none is 'first'"),
        ({"guesses.1.rounds": 1}, "has no field 'guesses.1.rounds'"),
        ({"weights": "(1, 'a')"}, "weights must be float, not 'a'"),
        ({"sizes": "(1.5,)"}, "sizes must be int, not 1.5"),
        ({"guesses": "(1,)"}, "guesses must be Guess, not 1"),
    ):
        with pytest.raises(UsageError, match=sentence):
            override(PANEL, changes)


def test_json_round_trip_keeps_equality_and_hash():
    for value in (NESTED, PANEL, Outer(panel=PANEL)):
        for numerics in (False, True):  # what identities hold is read back too
            again = from_json(json.loads(json.dumps(to_json(value, numerics=numerics))))
            assert again == value
            assert hash(again) == hash(value)


def test_json_names_versions_and_sources_of_all_that_is_nested():
    data = to_json(PANEL, numerics=True)
    assert "numerics" not in data  # Panel has no version of its numbers
    assert data["guesses"][0]["numerics"] == 1
    assert len(data["guesses"][0]["source"]) == len(data["plain"]["source"]) == 16
    assert "source" not in to_json(NESTED, numerics=True)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"kind": "Nonesuch"}, "no configuration is called 'Nonesuch'"),
        ({"kind": ["Sure"]}, "no configuration is called"),
        ({}, "no configuration is called None"),
        ({"kind": "Sure", "depth": 1}, "Sure has no field 'depth'"),
        ({"kind": "WarmUp", "pulls": 1}, "WarmUp needs a value for 'inner'"),
        ({"kind": "WarmUp", "inner": 3}, "inner must be Policy, not 3"),
        ({"kind": "WarmUp", "inner": {"kind": "Sure"}}, "inner must be Policy, not Sure"),
        ({"kind": "Sure", "rounds": "many"}, "rounds must be int, not 'many'"),
        ({"kind": "Sure", "rounds": 10**400}, "rounds must be at most 2147483647"),
        ({"kind": "Sure", "level": True}, "level must be float, not True"),
        ({"kind": "Panel", "guesses": [], "sizes": [[1]]}, "sizes must be int"),
    ],
)
def test_data_that_describes_no_configuration_is_one_sentence(data, sentence):
    with pytest.raises(UsageError, match=sentence):
        from_json(data)


def test_a_field_may_not_take_a_name_that_json_uses():
    with pytest.raises(UsageError, match="may not have a field 'source'"):

        @config
        class Clashing:
            source: str = ""


def test_parameters_say_everything_of_every_field():
    rows = {row.path: row for row in parameters(PANEL)}
    assert set(rows) >= {"limit", "sizes", "guesses.0.level", "guesses.1.level", "plain.share"}
    level = rows["guesses.0.level"]
    assert (level.field, level.of, level.value, level.explanation) == ("level", "Sure", 0.5, "how high")
    assert level.search is not None
    assert level.search.plain() == {"scale": "log", "low": 0.01, "high": 10}
    assert 0.5 in level.search
    assert 20.0 not in level.search
    assert rows["mode"].search.options == ("mean", "best")
    assert rows["loud"].search.options == (False, True)
    assert rows["limit"].search is None
    for path, row in rows.items():  # a path is an override
        assert override(PANEL, {path: row.value}) == PANEL
    assert all_fields(PANEL)["level"] == 0.5
    assert "guesses" not in all_fields(PANEL)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"guesses.0.level": -1}, r"level must be positive, not -1\.0"),
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"share": 1.5}, "share is a probability and must lie between 0 and 1, not 1.5"),
        ({"limit": 0}, "limit must be positive"),
        ({"weights": (0.5, -1.0)}, "weights must be positive, not -1.0"),
        ({"limit": 1e-60}, "limit must be positive, not 1e-60, which is 0.0 in the float32 it is used in"),
        ({"limit": 1e-40}, "which is 0.0 in the float32"),
        ({"spread": 1 - 1e-12}, "strictly between 0 and 1, not 0.999999999999, which is 1.0 in the float32"),
    ],
)
def test_every_field_is_checked_in_the_precision_it_is_used_in(changes, sentence):
    panel = Panel(guesses=PANEL.guesses, plain=Plain(), limit=1.0)
    with pytest.raises(UsageError, match=sentence):
        Seated(panel=override(panel, changes)).check()
    Seated(panel=panel).check()


@config
class Seated(Guess):
    panel: Panel = param(required, "who decides")

    def value(self) -> float:
        return 0.0


def test_checks_see_what_was_built_in_code():
    for policy, sentence in (
        (LinearKnownNoise(covariance="round"), "covariance must be one of full, diagonal"),  # type: ignore[arg-type]
        (LinearKnownNoise(noise_variance=1e39), "noise_variance must be at most"),
        (LinearKnownNoise(noise_variance="1"), "noise_variance must be positive, not '1'"),  # type: ignore[arg-type]
        (LinearKnownNoise(noise_variance=float("nan")), "noise_variance must be positive, not nan"),
        (WarmUp(inner=LinearKnownNoise(), pulls=2**40), "pulls must be at most 2147483647"),
    ):
        with pytest.raises(UsageError, match=sentence):
            WarmUp(inner=policy).check()


def test_author_code_still_runs_on_construction():
    @config
    class Halved:
        whole: float = param(1.0, "twice the half")

        def __post_init__(self) -> None:
            object.__setattr__(self, "half", self.whole / 2)

    assert Halved(whole=3).half == 1.5  # type: ignore[attr-defined]


def test_a_field_has_one_search_range():
    with pytest.raises(UsageError, match="one search range"):
        param(1.0, "too much", log(1, 2), log(2, 3))
    with pytest.raises(UsageError, match="begin above 0"):
        log(0, 1)
    with pytest.raises(UsageError, match="end above"):
        log(2, 1)


def test_classes_with_equal_fields_have_different_structures():
    """Or jit would sometimes run the program of one for the other."""
    greedy, sampling = (WarmUp(inner=kind()) for kind in (LinearGreedy, LinearKnownNoise))
    assert jax.tree.structure(greedy) != jax.tree.structure(sampling)
    assert jax.tree.structure(greedy) == jax.tree.structure(WarmUp(inner=LinearGreedy(prior_precision=2.0)))
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(greedy)[0]]
    assert paths == [".inner.prior_precision", ".inner.noise_variance"]
