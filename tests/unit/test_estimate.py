"""Estimates: rough ones know what makes a policy expensive, measured ones win, the longest cells come first."""

from __future__ import annotations

import json
from time import monotonic, sleep

import pytest

from showdown.bench import calibrate
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.estimate import estimate_seconds, longest_first
from showdown.bench.plan import plan
from showdown.bench.store import Store
from showdown.bench.suite import Suite
from showdown.config import config
from showdown.policies import policies
from showdown.policies.uniform import Uniform
from showdown.protocol import work
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work, counted_work


def planned(store: Store, *policies: str, horizon: int = 20_000):
    return plan(Suite(name="some", policies=policies, problems=("wheel-0.5",), trials=2, horizon=horizon), store)


def seconds(store: Store, policy: str, **fields) -> float:
    return estimate_seconds([item.cell for item in planned(store, policy, **fields)], store)[0]


@pytest.mark.parametrize(
    ("expensive", "cheap"),
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
def test_an_expensive_policy_is_known_to_be_expensive(expensive, cheap, tmp_path):
    store = Store(tmp_path)
    assert seconds(store, expensive) > 1.5 * seconds(store, cheap)


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
    list(Local(store).run(planned(store, "Uniform", horizon=1000), RunLimits()))
    (record,) = store.cells()
    total, known = estimate_seconds([item.cell for item in planned(store, "Uniform", horizon=10_000)], store)
    assert known == 1
    assert total == pytest.approx(10 * record.run_seconds + 4.0)


def test_a_calibration_is_kept_and_used(tmp_path, monkeypatch):
    """Other trials, steps and sizes are estimated from it. Rates of another kind of machine are not used."""
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(calibrate, "TARGET_SECONDS", 1e-3)
    store = Store(tmp_path / "results")
    cells = [item.cell for item in planned(store, "Uniform", horizon=20_000)]
    assert estimate_seconds(cells, store)[1] == 0
    ((name, measured),) = calibrate.calibrate(cells)
    assert name == "Uniform"
    assert measured.rates.step > 0
    seconds, known = estimate_seconds(cells, store)
    assert known == 1
    assert seconds == pytest.approx(2 * 20_000 * measured.rates.step + measured.compile)
    for place, name, value in (
        (calibrate, "this_machine", lambda: "abacus"),
        (calibrate, "__version__", "9.9.9"),
        (calibrate, "FORMAT", calibrate.FORMAT + 1),
        (calibrate.jax, "__version__", "9.9.9"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(place, name, value)
            assert calibrate.calibration() == {}
    assert calibrate.calibration() == {"Uniform": measured}
    file, key = tmp_path / "cache" / "rates.json", calibrate._key()
    rates = {"rates": [1e-6, 1e-9], "compile": 1.0}
    for damaged in (
        '{"abacus": [',
        "[]",
        json.dumps({key: [1]}),
        json.dumps({key: {"Uniform": [1.0], "LinPost": None}}),
        json.dumps({key: {"Uniform": {**rates, "rates": [1e-6]}}}),
        json.dumps({key: {"Uniform": {**rates, "rates": [-1e-6, 1e-9]}}}),
        json.dumps({key: {"Uniform": {**rates, "compile": float("nan")}}}),
    ):
        file.write_text(damaged)
        assert calibrate.calibration() == {}
        calibrate._keep("Uniform", measured)  # and it can be measured again
        assert calibrate.calibration() == {"Uniform": measured}


def test_rates_of_another_machine_are_not_taken_from_the_store(tmp_path, stored):
    """The fixture's cells were played on an abacus, in a second."""
    store = Store(stored(tmp_path, {("Uniform", "wheel-0.5"): [1.0, 2.0]}))
    assert estimate_seconds([item.cell for item in planned(store, "Uniform", horizon=500)], store)[1] == 0


@pytest.mark.parametrize(
    ("policy", "size", "factor"),
    [
        ("LinPost", {"horizon": 2}, 2),
        ("LinPost", {"num_actions": 2}, 2),
        ("LinPost", {"context_dim": 2}, 4),
        ("RMS", {"horizon": 2}, 2),
        ("NeuralLinear", {"horizon": 2}, 4),  # each refit passes over the whole past; that is most of it in the end
    ],
)
def test_what_doubles(policy, size, factor):
    """Operations when one size doubles; large sizes, where what grows fastest is nearly all."""
    sizes = {"context_dim": 1000, "num_actions": 500, "horizon": 10**8}
    if policy != "LinPost":
        sizes |= {"context_dim": 10, "num_actions": 5}

    def operations(context_dim, num_actions, horizon):
        return policies.get(policy).work(ProblemSpec(context_dim, num_actions), horizon).operations

    larger = {name: value * size.get(name, 1) for name, value in sizes.items()}
    assert operations(**larger) / operations(**sizes) == pytest.approx(factor, rel=0.01)


@config
class Waiting(Uniform):
    """Takes a second to trace; raises where it may."""

    raises: bool = False

    def init(self, key, spec):
        if self.raises:
            raise ValueError
        sleep(1)
        return ()

    def work(self, spec, horizon):
        return counted_work(self, spec, horizon)


@pytest.mark.parametrize("raises", [False, True])
def test_an_estimate_waits_for_no_policy_and_fails_with_none(raises, monkeypatch):
    """Tracing is once given up; from then on the policy is not traced again."""
    monkeypatch.setattr(work, "COUNT_SECONDS", 0.05)
    monkeypatch.setattr(work, "_slow", set())
    policy = Waiting(raises=raises)
    assert policy.work(ProblemSpec(2, 3), 100) == Work("linear", 100, 0)
    monkeypatch.setattr(work, "COUNT_SECONDS", 600)
    began = monotonic()
    assert policy.work(ProblemSpec(2, 3), 200) == Work("linear", 200, 0)
    assert monotonic() - began < 0.9
