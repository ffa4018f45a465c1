"""A table on which a short trial and a long one name different methods: the short verdict says not to believe it."""

from __future__ import annotations

import numpy as np
import pytest

from showdown.analysis.judge import judge
from showdown.analysis.play_details import play_details
from showdown.analysis.selection import select
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits, make_engine
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.policies import policies
from showdown.problems import table

ROWS, SHORT, TRIALS = 10_000, 1500, 40


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """One action is safe, four pay in some contexts only: greed is ahead first, exploration in the end."""
    draw = np.random.default_rng(1)
    contexts = draw.standard_normal((ROWS, 6))
    paid = 0.2 + 0.5 * np.tanh(contexts @ draw.standard_normal((6, 4)) / np.sqrt(6) * 1.5)
    rewards = np.column_stack([np.full(ROWS, 0.5), paid + 0.1 * draw.standard_normal(paid.shape)])
    store = Store(tmp_path_factory.mktemp("flip"))
    steps = {}
    for horizon in (SHORT, ROWS):
        problem = table(contexts, rewards=rewards, horizon=horizon)
        cells = [Cell(name, "t", policies.get(name), problem, TRIALS, 0) for name in ("LinGreedy", "LinFullPost")]
        planned = [Planned(cell, [(cell.policy_name, "t")], False) for cell in cells]
        limits = RunLimits(progress=lambda cell, played: steps.setdefault(cell.hash, []).append(played))
        assert [result.status for result in make_engine("local", store).run(planned, limits)] == ["done", "done"]
    assert all(each[0] == 0 < sum(each) for each in steps.values())  # compiling is said before playing
    return store


def verdict(store: Store, horizon: int):
    frame = select(store.frame(), horizon=horizon).frame
    return judge(frame, play_details(store, store.cells(), frame["cell"]))


def test_false_claim_of_a_short_trial(frames):
    found = verdict(frames, SHORT)
    assert found.best == "LinGreedy"
    assert any(f"t ({SHORT:,} of {ROWS:,} steps)" in warning for warning in found.warnings)
    assert any("LinFullPost would overtake LinGreedy on t" in warning for warning in found.warnings)


def test_all_rows_name_the_other_method_without_that_warning(frames):
    found = verdict(frames, ROWS)
    assert (found.best, found.tied) == ("LinFullPost", ())
    assert not any("overtake" in warning or "not played to the end" in warning for warning in found.warnings)
