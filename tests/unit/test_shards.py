"""Shards: disjoint, complete, balanced, the same on every machine; played one by one they are the whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from showdown.analysis.published import tables
from showdown.basics.errors import UsageError
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.estimate import rough_seconds
from showdown.bench.plan import plan
from showdown.bench.shards import divided, one_shard
from showdown.bench.store import Store
from showdown.bench.suite import Suite, changed, load_suite

POLICIES = ("Uniform", *(f"LinPost[prior_precision={value}.0]" for value in (1, 2, 3)))  # two programs in all
TINY = Suite(name="tiny", policies=POLICIES, problems=("wheel-0.5",), trials=2, horizon=30)


def hashes(planned) -> list[str]:
    return [item.cell.hash for item in planned]


def test_shards_are_disjoint_complete_and_balanced(tmp_path):
    planned = plan(load_suite("wheel-linear"), Store(tmp_path))
    for count in (1, 2, 7, 64, 200):
        shards = divided(planned, count)
        assert len(shards) == count
        assert sorted(cell for shard in shards for cell in hashes(shard)) == sorted(hashes(planned))
        loads = [sum(rough_seconds(item.cell) for item in shard) for shard in shards]
        longest = max(rough_seconds(item.cell) for item in planned)
        assert max(loads) - min(loads) <= longest  # what giving each cell to the least loaded guarantees


def test_shards_played_one_by_one_are_the_whole(tmp_path):
    """The first in a process that knows only its number, as the job of an array; the second after that."""
    parts, whole = Store(tmp_path / "parts"), Store(tmp_path / "whole")
    first, second = (set(hashes(shard)) for shard in divided(plan(TINY, parts), 2))
    options = ["--policies", ",".join(POLICIES), "--problems", "wheel-0.5", "--trials", "2", "--horizon", "30"]
    done = subprocess.run(
        [sys.executable, "-m", "showdown", "run", *options, "--out", parts.directory, "--shard", "1/2", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert {cell["cell"] for cell in json.loads(done.stdout)["cells"]} == first
    turned = changed(TINY, {"policies": tuple(reversed(POLICIES))})
    left = one_shard(plan(turned, parts), "2/2")  # neither what is stored nor the order of names moves a cell
    assert set(hashes(left)) == second
    list(Local(parts).run(left, RunLimits()))
    list(Local(whole).run(plan(TINY, whole), RunLimits()))
    one, two = (store.frame().sort_values(["cell", "trial"]) for store in (whole, parts))
    assert list(one["cell"]) == list(two["cell"])
    assert np.array_equal(one["cumulative"], two["cumulative"])


@pytest.mark.parametrize("spelled", ["0/4", "5/4", "1", "1/0", "a/b", "-1/4", "1/4/2"])
def test_a_shard_that_is_none_is_refused(spelled, tmp_path):
    with pytest.raises(UsageError, match="a shard is written"):
        one_shard(plan(TINY, Store(tmp_path)), spelled)


def test_the_suite_paper_is_every_published_cell():
    rows = tables()
    rows = rows[(rows["table"] != "main_cumulative") & (rows["problem"] != "mean_rank")]
    suite = load_suite("paper")
    cells = {
        (policy, problem)
        for part in (suite, *suite.also)
        for policy in part.policies
        for problem in part.problems
        if f"{policy} on {problem}" not in suite.without
    }
    assert cells == set(zip(rows["preset"], rows["problem"], strict=True))
