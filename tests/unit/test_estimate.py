"""Estimates: rough ones know what makes a policy dear, measured ones win, and the longest cells come first."""

from __future__ import annotations

import pytest

from showdown.bench.engine import Limits
from showdown.bench.engines.local import Local
from showdown.bench.estimate import estimate_seconds, longest_first
from showdown.bench.plan import plan
from showdown.bench.store import Store
from showdown.bench.suite import Suite


def planned(store: Store, *policies: str, horizon: int = 20_000):
    return plan(Suite(name="some", policies=policies, problems=("wheel-0.5",), trials=2, horizon=horizon), store)


def seconds(store: Store, policy: str, **fields) -> float:
    return estimate_seconds([item.cell for item in planned(store, policy, **fields)], store)[0]


@pytest.mark.parametrize(
    ("dear", "cheap"),
    [
        ("RMS", "LinPost"),
        ("RMS", "NeuralLinear"),  # a hundred steps per training beside twenty
        ("BootstrappedNN", "RMS"),
        ("BBB", "RMS"),  # ten thousand steps in the first training
        ("AlphaDivergence", "BBB"),  # ten networks per step
        ("GP", "GP[train_until=1500]"),
        ("GP", "SparseGP"),
        ("SparseGP", "SparseGP[num_inducing=100]"),
    ],
)
def test_a_dear_policy_is_known_to_be_dear(dear, cheap, tmp_path):
    store = Store(tmp_path)
    assert seconds(store, dear) > 1.5 * seconds(store, cheap)


def test_long_first_trainings_count_as_far_as_the_horizon_reaches(tmp_path):
    store = Store(tmp_path)
    few, all_of_them, more = (seconds(store, "BBB", horizon=20 * trainings) for trainings in (10, 100, 200))
    assert few < all_of_them / 3
    assert more < 1.2 * all_of_them


def test_longest_first(tmp_path):
    store = Store(tmp_path)
    items = planned(store, "Uniform", "RMS", "LinPost", "BBB")
    assert [item.cell.policy_name for item in longest_first(items, store)] == ["BBB", "RMS", "LinPost", "Uniform"]


def test_a_measured_rate_wins(tmp_path):
    """The store holds a short run; a cell ten times as long is expected to take ten times its seconds."""
    store = Store(tmp_path)
    list(Local(store).run(planned(store, "Uniform", horizon=1000), Limits()))
    (record,) = store.cells()
    total, known = estimate_seconds([item.cell for item in planned(store, "Uniform", horizon=10_000)], store)
    assert known == 1
    assert total == pytest.approx(10 * record.run_seconds + 4.0)
