"""Strong and weak scaling: over 1, 2, 4 and 8 virtual devices of the CPU, and over processes.

    python benchmarks/scaling.py [--json]

Virtual devices share the cores of this machine, so they show that the numbers do not change (the exit code is 1 if one
does), and what spreading costs; they cannot show a gain. The column "model" is what the cost model expects: the work
of all trials on as many devices as there are cores, at the rate of one device. Processes play different cells at the
same time, and their time is real; there the model is the seconds of one process, divided by the processes that have a
core of their own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DEVICES, PROCESSES = (1, 2, 4, 8), (1, 2)
POLICY, PROBLEM, HORIZON = "LinFullPost", "wheel-0.5", 2000
STRONG, WEAK = 48, 12  # trials in all, and on each device
CELLS = {  # kind: policies, trials and steps; a linear cell takes less time than a process to start, a network longer
    "short": ([f"LinFullPost[prior_precision={value}.0]" for value in range(1, 7)], 50, 20_000),
    "long": ([f"RMS[gradient_clip={value}.0]" for value in range(1, 5)], 2, 2_000),
}


def worker(trials: int) -> None:
    """One measurement, in a process that has the devices asked for."""
    from dataclasses import replace

    import jax
    import numpy as np

    from showdown.play.simulate import simulate
    from showdown.policies import policies
    from showdown.problems import problems

    policy, problem = policies.get(POLICY), replace(problems.get(PROBLEM), horizon=HORIZON)
    runs = [simulate(policy, problem, trials=trials) for _ in range(3)]
    content = b"".join(np.ascontiguousarray(values).tobytes() for values in (*runs[0].columns.values(), runs[0].curve))
    seconds = min(run.run_seconds for run in runs)
    answer = {"devices": jax.local_device_count(), "trials": trials, "seconds": seconds}
    print(json.dumps({**answer, "digest": hashlib.sha256(content).hexdigest()[:12]}))


def on_devices(devices: int, trials: int) -> dict[str, Any]:
    flags = f"--xla_force_host_platform_device_count={devices}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--worker", str(trials)]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def in_processes(processes: int, kind: str, folder: Path) -> float:
    """Seconds of cells that need one compilation, which is in the cache after the first time."""
    names, trials, steps = CELLS[kind]
    options = ["--policies", ",".join(names), "--problems", PROBLEM, "--trials", str(trials), "--horizon", str(steps)]
    engine = ["--engine", "processes", "--processes", str(processes), "--out", str(folder / str(processes))]
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "showdown", "run", *options, *engine], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if asked.worker:
        worker(asked.worker)
        return
    cores, rows, different = os.cpu_count() or 1, [], False
    for kind in ("strong", "weak"):
        for devices in DEVICES:
            row = {"scaling": kind, **on_devices(devices, STRONG if kind == "strong" else WEAK * devices)}
            first = rows[0] if kind == "strong" and rows else row
            different |= row["digest"] != first["digest"] and kind == "strong"
            base = next((each for each in rows if each["scaling"] == kind), row)
            row["model"] = base["seconds"] * row["trials"] / base["trials"] / min(devices, cores)
            rows.append(row)
            if not asked.json:
                sizes = f"{kind}: {devices} devices, {row['trials']} trials"
                print(
                    f"{sizes}: {row['seconds']:.3f} s, model {row['model']:.3f} s, numbers {row['digest']}", flush=True
                )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SHOWDOWN_CACHE"] = f"{folder}/cache"
        times: dict[str, dict[int, float]] = {}
        for kind in CELLS:
            in_processes(1, kind, Path(folder) / "warm")
            times[kind] = {count: in_processes(count, kind, Path(folder) / kind) for count in PROCESSES}
    if asked.json:
        print(json.dumps({"devices": rows, "processes": times, "load": os.getloadavg()[0]}))
    else:
        for kind, by_count in times.items():
            for count, seconds in by_count.items():
                model = by_count[1] / min(count, cores)
                print(f"{count} processes, {len(CELLS[kind][0])} {kind} cells: {seconds:.1f} s, model {model:.1f} s")
        print(
            f"load {os.getloadavg()[0]:.1f}; the numbers of strong scaling are {'DIFFERENT' if different else 'equal'}"
        )
    sys.exit(different)


if __name__ == "__main__":
    main()
