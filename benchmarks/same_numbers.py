"""Whether another source tree gives the same numbers, bit for bit, for every preset.

    python benchmarks/same_numbers.py /path/to/the/other/tree
    python benchmarks/same_numbers.py /path/to/the/other/tree --policies LinFullPost RMS
    python benchmarks/same_numbers.py /path/to/a/tree --record tests/unit/golden/numbers.json

Each tree plays every preset, made small, on two small problems in a process of its own; both run at the same time. All
regrets, curves and action counts of every trial are compared. Prints a line per preset and problem that differs and a
summary; the exit status is 1 if anything does. `--record` plays a few cheap presets in the tree given and writes their
numbers as hexadecimal floats, with the environment they belong to: the tests compare them with this tree's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

PROBLEMS = {"wheel-0.5": 120, "linear[context_dim=4,num_actions=3]": 60}  # name: horizon
GOLDEN_PROBLEM = "wheel-0.5"  # the one that is recorded
TRIALS = 2
MEASURED = (
    *("cumulative", "cumulative_expected", "simple", "simple_expected"),
    *("steps", "curve", "curve_expected", "action_counts"),
)
SMALL = {  # those of these fields that a policy has; a linear model stays one
    "hidden_layers": (10, 10),
    "training_steps": 5,
    "initial_training_steps": 8,
    "batch_size": 16,
    "refit_every": 20,
    "num_networks": 2,
    "burn_in": 2,
    "distance_samples": 8,
    "num_inducing": 8,
    "max_points": 32,
}


CHEAP = ("Uniform", "LinFullPost", "LinDiagPost", "LinGreedy-eps0.05", "RMS", "Dropout")  # recorded for the tests
RECORDED = ("cumulative", "cumulative_expected", "simple", "simple_expected")


def small(name: str) -> Any:
    from showdown.config import all_fields, override
    from showdown.policies import policies

    policy = policies.get(name)
    fields = all_fields(policy)
    return override(policy, {field: value for field, value in SMALL.items() if fields.get(field, ()) != ()})


def play(name: str, problem: str, horizon: int) -> dict[str, np.ndarray]:
    """What one preset measured; one that cannot be played says why, in the place of its numbers."""
    from showdown.problems import problems

    try:
        from showdown.basics.errors import ShowdownError
        from showdown.play.simulate import simulate
    except ImportError:  # a tree from before they had packages
        from showdown.errors import ShowdownError
        from showdown.simulate import simulate

    policy = small(name)
    try:
        outcome = simulate(policy, problems.get(problem), trials=TRIALS, horizon=horizon, seed=7)
    except ShowdownError as error:
        return {"error": np.array(str(error))}
    return {field: np.asarray(getattr(outcome, field)) for field in MEASURED}


def play_all(names: list[str], path: str) -> None:
    """In the process of one tree: everything into one file."""
    from showdown.policies import policies

    numbers = {}
    for name in names or policies.names():
        for problem, horizon in PROBLEMS.items():
            for field, values in play(name, problem, horizon).items():
                numbers[f"{name}|{problem}|{field}"] = values
    np.savez(path, **numbers)


def environment() -> dict[str, Any]:
    """All that may move the last bits of a float."""
    import jax

    try:
        about = Path("/proc/cpuinfo").read_text()
    except OSError:
        about = ""
    vectors = sorted({flag for flag in re.findall(r"\w+", about) if re.fullmatch(r"fma|avx2|avx512\w*|amx\w*", flag)})
    return {"jax": jax.__version__, "machine": platform.machine(), "vectors": vectors, "cores": os.cpu_count()}


def record(tree: Path, file: Path) -> int:
    """Write what the cheap presets measure in a tree."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.npz"
        if begin(tree, list(CHEAP), path).wait():
            return 1
        numbers = dict(np.load(path))
    recorded: dict[str, dict[str, Any]] = {
        name: {
            field: [value.hex() for value in numbers[f"{name}|{GOLDEN_PROBLEM}|{field}"].tolist()] for field in RECORDED
        }
        for name in CHEAP
    }
    file.write_text(json.dumps({"environment": environment(), "numbers": recorded}, indent=1) + "\n")
    return 0


def begin(tree: Path, names: list[str], path: Path) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / "src"), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, str(tree), "--into", str(path)]
    return subprocess.Popen([*command, "--policies", *names] if names else command, env=environment)


def differences(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, float]:
    """The largest relative difference of each (policy, problem) that has one; infinite where a number is missing."""
    found: dict[str, float] = {}
    for key in sorted(one.keys() | other.keys()):
        case = key.rpartition("|")[0]
        a, b = one.get(key), other.get(key)
        if a is not None and b is not None and a.dtype == b.dtype and a.tobytes() == b.tobytes():
            continue
        size = float("inf")
        if a is not None and b is not None and a.shape == b.shape and a.dtype.kind in "if":
            size = float(np.max(np.abs(a - b) / np.maximum(np.abs(a), 1e-300)))
        found[case] = max(size, found.get(case, 0.0))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="the other source tree: the folder that holds src/")
    parser.add_argument("--policies", nargs="+", default=[], help="presets; all of them by default")
    parser.add_argument("--record", type=Path, metavar="FILE", help="compare nothing; write the tree's numbers here")
    parser.add_argument("--into", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.into:
        play_all(chosen.policies, chosen.into)
        return 0
    if chosen.record:
        return record(chosen.tree, chosen.record)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "other.npz", Path(folder) / "here.npz"]
        trees = [chosen.tree, Path(__file__).parents[1]]
        running = [begin(tree, chosen.policies, file) for tree, file in zip(trees, files, strict=True)]
        if sum(process.wait() for process in running):  # waits for both
            return 1
        other, here = (dict(np.load(file)) for file in files)
    found = differences(other, here)
    for case, size in found.items():
        print(f"{case:60} differs by {size:.2g}")
    cases = {key.rpartition("|")[0] for key in here.keys() | other.keys()}
    presets = {case.partition("|")[0] for case in cases}
    print(f"{len(presets)} presets, {len(cases)} cases: {len(cases) - len(found)} bit-identical, {len(found)} differ")
    for key in sorted(key for key in here if key.endswith("|error")):
        print(f"{key.rpartition('|')[0]} was not played: {here[key]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
