"""The Ray engine on a cluster of two workers on this machine: equal numbers, killed workers, seconds per cell.

    python benchmarks/ray_kill.py                     # suite wheel-linear in full: 110 cells, 50 trials, 20,000 steps
    python benchmarks/ray_kill.py --trials 2 --horizon 200   # the same in small

1. The suite is played by `local` and by `ray`; every number must be equal to the bit.
2. It is played by `ray` while, ten times, at random moments, one of the workers is killed; nothing may be lost.
3. The overhead of a cell: 50 cells that take next to no time, played by a cluster whose workers are warm.

Exit code 1 if a number differs, a cell is lost, or a cell costs more than half a second.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from showdown.bench.engine import RunLimits, make_engine
from showdown.bench.engines._ray_cluster import connected
from showdown.bench.plan import plan
from showdown.bench.store import Store
from showdown.bench.suite import Suite, changed, load_suite

KILLS, MOST_OVERHEAD = 10, 0.5
TWO = RunLimits(processes=2)
NOT_COMPARED = ("compile_seconds", "run_seconds", "beside")


def workers_at_work() -> list[int]:
    """Workers of Ray on this machine that are playing a cell, which is in their process's title."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                title = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::play"):
                found.append(int(folder.name))
    return found


def kill_now_and_then(mean_seconds: float, killed: list[int], ended: threading.Event) -> None:
    """Until ten have been killed. A moment is as likely as any other: waiting times are exponential."""
    while len(killed) < KILLS and not ended.wait(random.expovariate(1 / mean_seconds)):
        if victims := workers_at_work():
            killed.append(random.choice(victims))
            os.kill(killed[-1], signal.SIGKILL)


def play(engine: str, suite: Suite, folder: Path, limits: RunLimits) -> float:
    store = Store(folder)
    began = time.perf_counter()
    results = list(make_engine(engine, store).run(plan(suite, store), limits))
    seconds = time.perf_counter() - began
    lost = [f"{result.cell.label}: {result.reason}" for result in results if result.status != "done"]
    print(
        f"{engine}: {len(results)} cells in {seconds:.1f} s" + "".join(f"\n  LOST {each}" for each in lost), flush=True
    )
    return seconds


def differences(one: Path, two: Path) -> list[str]:
    frames = [Store(folder).frame().sort_values(["cell", "trial"]).reset_index(drop=True) for folder in (one, two)]
    if len(frames[0]) != len(frames[1]):
        return [f"{len(frames[0])} rows and {len(frames[1])}"]
    columns = [column for column in frames[0] if column not in NOT_COMPARED]
    different = [column for column in columns if not frames[0][column].equals(frames[1][column])]
    curves = [
        record.cell
        for record in Store(one).cells()
        if not all(
            (left == right).all() if hasattr(left, "all") else left == right
            for left, right in zip(Store(one).trials(record)["curve"], Store(two).trials(record)["curve"], strict=True)
        )
    ]
    return different + curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="wheel-linear")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--horizon", type=int)
    asked = parser.parse_args()
    sizes = {name: value for name in ("trials", "horizon") if (value := getattr(asked, name)) is not None}
    suite, root, bad = changed(load_suite(asked.suite), sizes), Path(tempfile.mkdtemp()), []
    play("local", suite, root / "local", RunLimits())
    with connected(TWO, 0):
        seconds = play("ray", suite, root / "ray", TWO)
        bad += differences(root / "local", root / "ray")
        killed, ended = [], threading.Event()
        killer = threading.Thread(target=kill_now_and_then, args=(seconds / (2 * KILLS), killed, ended), daemon=True)
        killer.start()
        play("ray", suite, root / "killed", TWO)
        ended.set()
        killer.join()
        lost = differences(root / "local", root / "killed")
        print(f"{len(killed)} workers killed; {'nothing was lost' if not lost else f'LOST OR DIFFERENT: {lost}'}")
        bad += lost + ([f"only {len(killed)} workers were killed"] if len(killed) < KILLS else [])
        tiny = Suite(name="tiny", policies=("Uniform",), problems=tuple(f"wheel[noise=0.{n:03}]" for n in range(1, 51)))
        tiny = changed(tiny, {"trials": 2, "horizon": 20})
        warm = changed(tiny, {"seed": 1})
        play("ray", warm, root / "warm", TWO)
        overhead = play("ray", tiny, root / "tiny", TWO) / 50
        print(f"overhead: {overhead:.3f} s of the driver's time per cell (goal {MOST_OVERHEAD})")
        bad += [] if overhead <= MOST_OVERHEAD else ["overhead"]
    shutil.rmtree(root)
    print("all as it should be" if not bad else f"WRONG: {bad}")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
