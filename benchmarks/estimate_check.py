"""How far the estimates of `showdown run --dry-run --calibrate` are from what cells then take, on cheap cells.

    python benchmarks/estimate_check.py [--cpu-time]

The rates are measured first, into a cache folder of their own, on generated problems; then each cell of the sample is
estimated and played, alone. Real problems are left out where their data is missing. Other programs on the machine make
the figures meaningless, so the load is printed; with --cpu-time seconds of this process are measured instead of the
clock's, in calibration and in play, which checks the model on a machine that is busy. The goal is 30 %.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

SAMPLE = [  # policy, problem, trials, horizon (None: its own)
    ("Uniform", "wheel-0.5", 50, None),
    ("LinPost", "wheel-0.5", 50, 10_000),
    ("LinFullPost", "wheel-0.5", 50, 5000),
    ("LinFullPost", "statlog", 50, 5000),
    ("LinPost", "covertype", 50, 1000),
    ("LinPost", "adult", 50, 500),
    ("RMS", "statlog", 8, 60),
    ("RMS-MR", "wheel-0.5", 4, 100),
    ("NeuralLinear", "statlog", 4, 600),
    ("RMS-MR", "covertype", 4, 40),
]
GOAL = 0.3


def main() -> None:
    os.environ["SHOWDOWN_CACHE"] = tempfile.mkdtemp()
    from showdown.basics.errors import MissingDataError
    from showdown.bench import calibrate as calibrating
    from showdown.bench.calibrate import calibrate
    from showdown.bench.cell import Cell
    from showdown.bench.cost_model import family
    from showdown.bench.estimate import estimate_seconds
    from showdown.bench.store import Store
    from showdown.play import batches
    from showdown.play.simulate import simulate
    from showdown.policies import policies
    from showdown.problems import problems

    if "--cpu-time" in sys.argv:
        batches.time = calibrating.time = SimpleNamespace(perf_counter=time.process_time)
    cells = []
    for policy, problem, trials, horizon in SAMPLE:
        chosen = problems.get(problem)
        try:
            chosen.load()
        except MissingDataError:
            continue
        chosen = chosen if horizon is None else replace(chosen, horizon=horizon)
        cells.append(Cell(policy, problem, policies.get(policy), chosen, trials, 0))
    began = time.perf_counter()
    compiling = {}
    for name, measured in calibrate(cells):
        compiling[name] = measured.compile
        print(f"{time.perf_counter() - began:5.0f} s  {name}: {measured}", flush=True)
    print(
        f"calibration of {len(compiling)} families: {time.perf_counter() - began:.0f} s; load {os.getloadavg()[0]:.1f}"
    )
    store, within = Store(Path(os.environ["SHOWDOWN_CACHE"]) / "none"), 0
    estimated, played = 0.0, 0.0
    for cell in cells:
        seconds, _ = estimate_seconds([cell], store)
        seconds -= compiling[family(cell)]
        took = simulate(cell.policy, cell.problem, trials=cell.trials).run_seconds
        within += abs(seconds / took - 1) <= GOAL
        estimated, played = estimated + seconds, played + took
        print(f"{cell.label:28} estimated {seconds:7.2f} s, took {took:7.2f} s: {seconds / took:.2f}", flush=True)
    print(f"all: {estimated:.1f} s estimated, {played:.1f} s played: {estimated / played:.2f}")
    print(f"{within} of {len(cells)} within {GOAL:.0%}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
