"""Where float32 is right, against float64; where it is not, a policy's diagnostics and the tables say so."""

from __future__ import annotations

import numpy as np
import pytest

from attacks import ranges
from showdown.analysis.build_table import build_table
from showdown.analysis.notes import Rounded
from showdown.analysis.play_details import play_details
from showdown.analysis.selection import select
from showdown.analysis.table import TableRequest
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.posteriors.rounding import ROUNDING

STEPS = 20_000


@pytest.mark.parametrize("case", ranges.CASES, ids=str)
def test_an_error_that_matters_is_said(case):
    found = ranges.measure(case, STEPS)
    if found.said == 0:
        assert found.error < 0.5
    else:
        assert found.said / 40 < found.error < 3 * found.said


@pytest.mark.parametrize("case", [ranges.Case(), ranges.Case(noise=100.0), ranges.Case(collinear=1e-3)], ids=str)
def test_ordinary_contexts_are_right_and_not_warned_of(case):
    found = ranges.measure(case, STEPS)
    assert found.said == 0
    assert found.error < 0.01


def far_contexts(offset: float, steps: int = 300) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(0)
    contexts = offset + chance.normal(size=(steps, 2))
    return contexts, np.stack([contexts @ [1.0, -1.0], contexts @ [-1.0, 1.0]], axis=1) + 0.01 * chance.normal(size=2)


@pytest.mark.parametrize("name", ["LinFullPost", "LinPost", "LinGreedy"])
def test_policies_say_it(name, script):
    policy = policies.get(name)
    near = simulate(policy, script(*far_contexts(0.0)), trials=2).largest_diagnostics()
    far = simulate(policy, script(*far_contexts(1e5)), trials=2).largest_diagnostics()
    assert near == {ROUNDING: 0.0}
    assert far[ROUNDING] > 1


def test_tables_caution_against_it(script, tmp_path):
    problem, store = script(*far_contexts(1e5)), Store(tmp_path)
    cell = Cell("LinFullPost", "far", policies.get("LinFullPost"), problem, 2, 0)
    list(Local(store).run([Planned(cell, [("LinFullPost", "far")], False)], RunLimits()))
    records = store.cells()
    frame = store.frame(records)
    table = build_table(select(frame), TableRequest(), play_details(store, records, frame["cell"]))
    (note,) = [note for note in table.notes if isinstance(note, Rounded)]
    assert "float32 may have moved what was learned" in str(note)
    assert "LinFullPost on far" in str(note)
