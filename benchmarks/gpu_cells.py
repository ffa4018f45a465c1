"""Play the cells of suites that no store holds, many at once on one GPU; resumable, and nothing is lost when it is cut.

    python benchmarks/gpu_cells.py plan SUITE…   # what is missing, GPU seconds, how many calls; needs no GPU
    python benchmarks/gpu_cells.py play SUITE… --seconds 540 --workers 16 --archive $OUT/cells.tar.gz

A cell is missing if neither `--out` nor a store under docs/results holds it. Cells go in chunks of one problem, short
ones first, to so many processes of `showdown run`, which share the GPU (through MPS where it can be started), and each
cell is written as it finishes. A cell that would not be done in time is not begun; one that is being played when time
is up is lost and played next time. The archive holds all cells of `--out` and is renewed while playing, so a call that
is cut has it too: unpack it into docs/results/NAME, and the next call plays the rest.

The reproduction: benchmarks/suites/reproduction-*.toml, with SHOWDOWN_DATA=shared/data. The study: study-paper with the
same, and study-tables with a folder that `showdown data fetch tables --data-dir DIR` filled. On a machine that gets the
working tree alone, copy both into one ignored folder, carry/data, and name it by SHOWDOWN_DATA.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
MEASURED = ("neural", "neural-more", "gaussian-process", "readings", "council2", "families/short", "families/wheel")
SHARING = 1.65  # what several processes under MPS gain in all, as measured (docs/performance.md)
CHUNK = 60.0  # seconds of cells that one process plays before another problem may have its turn
START = 12.0  # seconds of a process before it plays: imports, the device, data


class Job(NamedTuple):
    """A cell to play."""

    policy: str  # its names, with commas: some presets are the same under two
    problem: str  # as it is spelled on the command line
    horizon: int
    trials: int
    seed: int
    seconds: float  # with the GPU to itself


def missing(suites: list[str], out: Path) -> tuple[list[Job], int]:
    """The cells that no store holds, and the number of all."""
    from plan_gpus import seconds_of
    from showdown.bench.plan import plan
    from showdown.bench.store import Store
    from showdown.bench.suite import load_suite

    stored = [Store(path.parent) for path in sorted(RESULTS.glob("**/cells"))]
    planned = [item for name in suites for item in plan(load_suite(name), Store(out))]
    left = {item.cell.hash: item for item in planned if not any(one.is_done(item.cell.hash) for one in stored)}
    todo = [item for item in left.values() if not item.done]
    jobs = [
        Job(names_of(item), spelled(cell), cell.problem.horizon, cell.trials, cell.seed, seconds)
        for item, seconds in zip(todo, seconds_of([item.cell for item in todo], MEASURED), strict=True)
        for cell in [item.cell]
    ]
    return jobs, len({item.cell.hash for item in planned})


def names_of(item) -> str:
    return ",".join(dict.fromkeys(policy for policy, _ in item.names))


def spelled(cell) -> str:
    """The problem of a cell as the command line takes it: a table by its file."""
    path = getattr(cell.problem, "path", "")
    return f"table[path={path},label={cell.problem.label}]" if path else cell.problem_name


def show(jobs: list[Job], total: int, seconds: float) -> None:
    print(
        f"{total} cells, {total - len(jobs)} stored, {len(jobs)} missing\n\n| problem | cells | GPU seconds | longest |"
    )
    print("|---|---|---|---|")
    groups = defaultdict(list)
    for job in jobs:
        groups[job.problem].append(job)
    for problem, own in groups.items():
        longest = max(own, key=lambda job: job.seconds)
        summed = sum(job.seconds for job in own)
        name = Path(problem.partition("path=")[2].partition(",")[0]).stem or problem
        print(f"| {name} | {len(own)} | {summed:,.0f} | {longest.policy} {longest.seconds:,.0f} |")
    alone = sum(job.seconds for job in jobs)
    ordered = sorted(job.seconds for job in jobs)
    in_one = sum(1 for place in range(len(ordered)) if sum(ordered[: place + 1]) <= SHARING * seconds)
    long = sum(job.seconds > seconds for job in jobs)
    print(
        f"\n{alone:,.0f} GPU seconds one after another; {alone / SHARING:,.0f} shared, so about "
        f"{alone / SHARING / seconds:.0f} calls of {seconds:.0f} s; the first plays about {in_one} cells, the shortest"
    )
    if long:
        print(f"{long} cells are longer than a call: give it more --seconds, or them fewer trials")


def play(jobs: list[Job], asked: argparse.Namespace) -> None:
    asked.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + asked.seconds
    with Shared(deadline, jobs, asked) as shared:
        workers = [threading.Thread(target=shared.work) for _ in range(asked.workers)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            time.sleep(min(20.0, max(1.0, deadline - time.monotonic())))
            pack(asked)
        for worker in workers:
            worker.join()
    pack(asked)


class Shared:
    """The chunks that are left, and the GPU that the workers share."""

    def __init__(self, deadline: float, jobs: list[Job], asked: argparse.Namespace) -> None:
        self.deadline, self.asked = deadline, asked
        self.chunks = chunked(jobs)
        self.lock = threading.Lock()
        self.mps = shutil.which("nvidia-cuda-mps-control")

    def __enter__(self) -> Shared:
        if self.mps:  # only the one started here is ended below
            self.mps = self.mps if subprocess.run([self.mps, "-d"], check=False).returncode == 0 else None
        return self

    def __exit__(self, *error: object) -> None:
        if self.mps:
            subprocess.run([self.mps], input="quit\n", text=True, check=False)

    def work(self) -> None:
        while chunk := self.next():
            run(chunk, self.deadline, self.asked)

    def next(self) -> list[Job] | None:
        """The next chunk of which at least the first cell can be done in time, with this many beside it."""
        with self.lock:
            slower = max(1.0, self.asked.workers / SHARING)
            left = self.deadline - time.monotonic() - START
            for place, chunk in enumerate(self.chunks):
                if chunk[0].seconds * slower <= left or self.asked.begin_all:
                    return self.chunks.pop(place)
            return None


def chunked(jobs: list[Job]) -> list[list[Job]]:
    """Cells of one problem, trials and seed that one process plays in turn; the shortest chunks first."""
    groups = defaultdict(list)
    for job in sorted(jobs, key=lambda job: job.seconds):
        groups[job.problem, job.horizon, job.trials, job.seed].append(job)
    chunks = []
    for own in groups.values():
        chunks.append([])
        for job in own:
            if chunks[-1] and sum(one.seconds for one in chunks[-1]) + job.seconds > CHUNK:
                chunks.append([])
            chunks[-1].append(job)
    return sorted(chunks, key=lambda chunk: chunk[-1].seconds)


def run(chunk: list[Job], deadline: float, asked: argparse.Namespace) -> None:
    """Play a chunk in a process of its own, which is ended when time is up."""
    first = chunk[0]
    command = [sys.executable, "-m", "showdown", "run", "--problems", first.problem, "--out", str(asked.out)]
    command += ["--policies", ",".join(job.policy for job in chunk)]
    command += ["--trials", str(first.trials), "--seed", str(first.seed), "--horizon", str(first.horizon)]
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    try:
        left = max(1.0, deadline - time.monotonic())
        done = subprocess.run(command, env=environment, timeout=left, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{first.problem}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
    except subprocess.TimeoutExpired:
        print(f"{first.problem}: time is up; what was finished is kept", flush=True)


def pack(asked: argparse.Namespace) -> None:
    """All cells so far as one file, put in place at once."""
    if asked.archive is None or not asked.out.exists():
        return
    new = asked.archive.with_suffix(".new")
    with tarfile.open(new, "w:gz", compresslevel=1) as archive:
        archive.add(asked.out, arcname="cells-of-gpu")
    os.replace(new, asked.archive)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("plan", "play"))
    parser.add_argument("suites", nargs="+", help="shipped suites or .toml files")
    parser.add_argument("--seconds", type=float, default=540.0, help="of a call")
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--out", type=Path, default=ROOT / "scratch" / "cells")
    parser.add_argument("--archive", type=Path, help="where all cells go as one .tar.gz, also while playing")
    parser.add_argument("--begin-all", action="store_true", help="begin cells that may not be done in time, too")
    asked = parser.parse_args()
    jobs, total = missing(asked.suites, asked.out)
    show(jobs, total, asked.seconds)
    if asked.what == "play":
        play(jobs, asked)
        left, _ = missing(asked.suites, asked.out)
        print(f"{len(jobs) - len(left)} cells played, {len(left)} left")


if __name__ == "__main__":
    main()
