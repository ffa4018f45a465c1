"""Hours of the suite `paper` on 1, 8 and 64 GPUs, computed from the seconds of cells that an H200 has played.

    python benchmarks/plan_gpus.py [--suite paper]

The measured cells are those in docs/results. For each policy the cost model (`showdown/bench/cost_model.py`: steps and
operations) is fitted to its own cells; a policy without any takes the rates of the measured policies of its family. The
linear policies, of which no cells are kept, take the microseconds per step of docs/performance.md. Cells are given out
longest first to the GPU that is free, one at a time.

Most of the measured cells shared their GPU with up to seven others, so a cell alone takes less, and networks that
now train in one kernel did not. What eight processes on one GPU gained is in docs/performance.md (a factor of 1.6 to
1.7).
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from showdown.bench.cell import Cell
from showdown.bench.cost_model import Rates, family, work_of
from showdown.bench.cost_model import seconds as seconds_for
from showdown.bench.plan import plan
from showdown.bench.store import Store
from showdown.bench.suite import load_suite
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work

RESULTS = Path(__file__).parents[1] / "docs" / "results"
STORES = ("neural", "gaussian-process", "readings")
DEVICE = "NVIDIA H200"
LINEAR_STEP_MICROSECONDS = {  # of all 50 trials: docs/performance.md, LinFullPost
    ProblemSpec(2, 5): 20,  # wheel-0.5
    ProblemSpec(9, 7): 31,  # statlog
    ProblemSpec(117, 2): 35,  # mushroom
    ProblemSpec(94, 14): 49,  # adult
    ProblemSpec(54, 7): 43,  # covertype
}
GPUS = (1, 8, 64)
SPECS = {"song": ProblemSpec(90, 10)}  # of problems whose data may be missing here


def fitted(works: list[Work], seconds: list[float]) -> Rates:
    """Seconds per step and per operation, neither negative, by least relative squares."""
    rows = np.asarray([(each.steps, each.operations) for each in works]) / np.asarray(seconds)[:, None]
    unit = np.maximum(rows.max(axis=0), 1e-300)
    found, _ = nnls(rows / unit, np.ones(len(rows)))
    return Rates(*map(float, found / unit))


def measured_rates(stores: tuple[str, ...] = STORES) -> tuple[dict[str, Rates], dict[str, Rates], float]:
    """By policy, by family, and the mean seconds of compiling a cell."""
    works, seconds, compiling = defaultdict(list), defaultdict(list), []
    for name in stores:
        for record in Store(RESULTS / name).cells():
            known = record.policy in policies and record.problem in problems
            if not record.is_done or record.hardware.get("device") != DEVICE or not known:
                continue
            spec = ProblemSpec(record.context_dim, record.num_actions)
            policy = policies.get(record.policy)
            done = policy.work(spec, record.horizon).times(record.trials)
            cell = Cell(record.policy, record.problem, policy, problems.get(record.problem), record.trials, 0)
            for key in (record.policy, f"family {family(cell)}"):
                works[key].append(done)
                seconds[key].append(record.run_seconds)
            compiling.append(record.compile_seconds)
    rates = {key: fitted(works[key], seconds[key]) for key in works if not key.startswith("family ")}
    families = {key.removeprefix("family "): fitted(works[key], seconds[key]) for key in works if key[:7] == "family "}
    return rates, families, float(np.mean(compiling))


def linear_rates() -> Rates:
    works, seconds = [], []
    for spec, microseconds in LINEAR_STEP_MICROSECONDS.items():
        works.append(policies.get("LinFullPost").work(spec, 1000).times(50))
        seconds.append(microseconds * 1e-3)
    return fitted(works, seconds)


def seconds_of(cells: list[Cell], stores: tuple[str, ...] = STORES) -> list[float]:
    rates, families, compiling = measured_rates(stores)
    linear = linear_rates()
    found = []
    for cell in cells:
        rate = rates.get(cell.policy_name) or families.get(family(cell))
        rate = rate if rate is not None and cell.policy.refit_every else linear
        found.append(seconds_for(work(cell), rate) + compiling)
    return found


def work(cell: Cell) -> Work:
    spec = SPECS.get(cell.problem_name)
    return work_of(cell) if spec is None else cell.policy.work(spec, cell.problem.horizon).times(cell.trials)


def makespan(seconds: list[float], gpus: int) -> float:
    free = [0.0] * gpus
    for each in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="paper")
    asked = parser.parse_args()
    planned = plan(load_suite(asked.suite), Store(tempfile.mkdtemp()))
    cells = [item.cell for item in planned]
    seconds = seconds_of(cells)
    by_family = defaultdict(float)
    for cell, each in zip(cells, seconds, strict=True):
        by_family[family(cell)] += each / 3600
    print("| family | GPU hours |\n|---|---|")
    for name, hours in sorted(by_family.items(), key=lambda pair: -pair[1]):
        print(f"| {name} | {hours:.1f} |")
    longest = max(range(len(cells)), key=seconds.__getitem__)
    print(
        f"\n{len(cells)} cells, {sum(seconds) / 3600:.1f} GPU hours; the longest cell is {cells[longest].label}, ",
        end="",
    )
    print(f"{seconds[longest] / 3600:.1f} hours\n\n| GPUs | hours | speed-up |\n|---|---|---|")
    alone = makespan(seconds, 1)
    for gpus in GPUS:
        hours = makespan(seconds, gpus) / 3600
        print(f"| {gpus} | {hours:.1f} | {alone / 3600 / hours:.1f} |")


if __name__ == "__main__":
    main()
