"""Seconds to write a store, to read it and to find out what is in it, compared with another tree of this project.

    python benchmarks/store_speed.py /path/to/the/other/tree [cells]

Both trees are measured in turn, several times, each in a process of its own; the quickest of each counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import fields, replace
from pathlib import Path

ROUNDS, TRIALS, POINTS = 4, 20, 200
HERE = Path(__file__).parents[1]


def measure(cells: int) -> dict[str, float]:
    """Runs in either tree, so it only uses what both have."""
    import numpy as np

    from showdown.bench.cell import Cell
    from showdown.bench.store import Store
    from showdown.play.simulate import Outcome
    from showdown.policies import policies
    from showdown.problems import problems
    from showdown.protocol.problem import ProblemSpec

    curve = np.cumsum(np.random.default_rng(0).random((TRIALS, POINTS)), axis=1)
    columns = dict.fromkeys(("cumulative", "cumulative_expected", "simple", "simple_expected"), curve[:, -1])
    curves = {"curve": curve, "curve_expected": curve}
    known = {
        "columns": columns,
        "curves": curves,
        **columns,
        **curves,
        "steps": np.arange(1, POINTS + 1) * 100,
        "action_counts": np.tile([3, 2, 1], (TRIALS, 1)),
        "spec": ProblemSpec(2, 3),
        "compile_seconds": 1.0,
        "run_seconds": 2.0,
        "batch_trials": TRIALS,
    }
    outcome = Outcome(**{item.name: known[item.name] for item in fields(Outcome) if item.name in known})
    problem = replace(problems.get("wheel-0.5"), horizon=100 * POINTS)
    made = [
        Cell(f"p{number}", "wheel-0.5", policies.get("LinPost"), problem, TRIALS, number) for number in range(cells)
    ]
    about = {"finished": "2026-01-01T00:00:00.000+00:00", "versions": {"showdown": "0"}, "hardware": {"cores": 2}}
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        store.prepare()
        began = time.perf_counter()
        for cell in made:
            store.write_done(cell, [(cell.policy_name, cell.problem_name)], outcome, about)
        seconds["write"] = time.perf_counter() - began
        began, worked = time.perf_counter(), time.process_time()
        assert len(Store(folder).frame()) == cells * TRIALS
        seconds["read"] = time.perf_counter() - began
        seconds["read, processor time"] = time.process_time() - worked
        began = time.perf_counter()
        assert all(store.is_done(cell.hash) for cell in made)
        seconds["plan"] = time.perf_counter() - began
    return seconds


def main() -> None:
    if sys.argv[1] == "measure":
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    trees = {"this tree": HERE, "the other": Path(sys.argv[1])}
    cells = sys.argv[2] if len(sys.argv) > 2 else "800"
    best: dict[str, dict[str, float]] = {name: {} for name in trees}
    for _ in range(ROUNDS):
        for name, tree in trees.items():
            environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "JAX_PLATFORMS": "cpu"}
            command = [sys.executable, __file__, "measure", cells]
            answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            for what, seconds in json.loads(answer).items():
                best[name][what] = min(seconds, best[name].get(what, seconds))
    for what in best["this tree"]:
        ours, theirs = (best[name][what] for name in trees)
        print(f"{what:20} {cells} cells: {ours:.2f} s, the other tree {theirs:.2f} s, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
