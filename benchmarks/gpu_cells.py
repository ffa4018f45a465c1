"""Play the cells of suites that no store holds, many at once on one GPU; resumable, and nothing is lost when it is cut.

    python benchmarks/gpu_cells.py plan SUITE…   # what is missing, GPU seconds, how many calls; needs no GPU
    python benchmarks/gpu_cells.py play SUITE… --seconds 560 --workers 24 --archive $OUT

A cell is missing if neither `--out` nor a store under docs/results holds it. Cells are played in the order of the
suites and, within one, short ones first, by so many processes of the engine `processes`: each imports once, plays one
cell after another and stores it as it finishes; one that dies loses its cell. They share the GPU through MPS where it
can be started, and compiled programs through the cache on disk. What is being played when time is up is lost and
played next time.

The folder `--archive` gets cells-1.tar.gz and so on, of less than 16 MiB, renewed while playing, so a call that is cut
has them too. Unpacked in docs/results, cells lie in folders called as their suites, and the next call plays the rest.

The reproduction: benchmarks/suites/reproduction-*.toml, with SHOWDOWN_DATA=shared/data. Council among the published
rows: benchmarks/suites/council*.toml with --seed 0, 1 and 2, and the same data. The study: study-paper with the same,
and study-tables with a folder that `showdown data fetch tables --data-dir DIR` filled. On a machine that gets the
working tree alone, copy both into one ignored folder, carry/data, and name it by SHOWDOWN_DATA.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tarfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from showdown.bench.plan import Planned
    from showdown.bench.suite import Suite

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
MEASURED = ("neural", "neural-more", "gaussian-process", "readings", "council2", "families/short", "families/wheel")
SHARING = 1.65  # what several processes under MPS gain in all, as measured (docs/performance.md)
EVERY = 20.0  # seconds between two archives
LARGEST = 12 << 20  # bytes of an archive to which no cell is added any more
ERRORS = 5  # of the GPU, one after another, that end the processes


class Job(NamedTuple):
    """A cell to play."""

    item: Planned
    suite: str  # whose folder it goes to
    seconds: float  # with the GPU to itself


def missing(asked: argparse.Namespace) -> tuple[list[Job], int]:
    """The cells that no store holds, in the order in which they are to be played, and the number of all."""
    import jax

    from plan_gpus import seconds_of
    from showdown.bench.plan import plan
    from showdown.bench.store import Store
    from showdown.bench.suite import load_suite

    stored = [Store(path.parent) for path in sorted(RESULTS.glob("**/cells"))]
    planned = {
        item.cell.hash: (item, Path(name).stem)
        for name in reversed(asked.suites)  # a cell of two suites belongs to the first
        for item in plan(of_seed(load_suite(name), asked.seed), Store(asked.out))
        if wanted(item, asked)
    }
    todo = [each for key, each in planned.items() if not each[0].done and not any(one.is_done(key) for one in stored)]
    seconds = seconds_of([item.cell for item, _ in todo], MEASURED)
    jobs = [Job(item, suite, each) for (item, suite), each in zip(todo, seconds, strict=True) if each <= asked.longest]
    # of cells that share a program (five wheels, presets that differ in floats) one goes first, to compile it
    jobs.sort(key=lambda job: job.seconds)
    sharing: Counter[object] = Counter()
    ranks = {}
    for job in jobs:
        cell = job.item.cell
        program = jax.tree.structure((cell.policy, cell.problem)), cell.problem.horizon, cell.trials
        sharing[program] += 1
        ranks[cell.hash] = sharing[program]
    order = [Path(name).stem for name in asked.suites]
    jobs.sort(key=lambda job: (order.index(job.suite), job.seconds * ranks[job.item.cell.hash]))
    return jobs, len(planned)


def of_seed(suite: Suite, seed: int | None) -> Suite:
    return suite if seed is None else replace(suite, seed=seed)


def wanted(item: Planned, asked: argparse.Namespace) -> bool:
    policies, problems = zip(*item.names, strict=True)

    def among(names: tuple[str, ...], patterns: str) -> bool:
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns.split(","))

    return among(policies, asked.only) and among(problems, asked.problems) and not among(policies, asked.without)


def show(jobs: list[Job], total: int, seconds: float) -> None:
    print(f"{total} cells, {len(jobs)} cells to play\n\n| problem | cells | GPU seconds | longest |\n|---|---|---|---|")
    groups = defaultdict(list)
    for job in jobs:
        groups[job.item.cell.problem_name].append(job)
    for problem, own in groups.items():
        longest = max(own, key=lambda job: job.seconds)
        summed = sum(job.seconds for job in own)
        print(f"| {problem} | {len(own)} | {summed:,.0f} | {longest.item.cell.policy_name} {longest.seconds:,.0f} |")
    alone = sum(job.seconds for job in jobs)
    ordered = sorted(job.seconds for job in jobs)
    in_one = sum(1 for place in range(len(ordered)) if sum(ordered[: place + 1]) <= SHARING * seconds)
    print(
        f"\n{alone:,.0f} GPU seconds one after another; {alone / SHARING:,.0f} shared, so about "
        f"{alone / SHARING / seconds:.0f} calls of {seconds:.0f} s; the first plays about {in_one} cells, the shortest",
        flush=True,
    )


def play(jobs: list[Job], asked: argparse.Namespace, deadline: float) -> None:
    over = threading.Event()
    archives = Archives(asked.archive, asked.out, {job.item.cell.hash: job.suite for job in jobs})

    def keep() -> None:
        while not over.wait(EVERY):
            archives.renew()

    keeper = threading.Thread(target=keep)
    with shared_gpu():
        keeper.start()
        try:
            left = [job.item for job in jobs]
            while left and time.monotonic() < deadline:
                left = play_until_broken(left, asked, deadline)
        finally:
            over.set()
            keeper.join()
            archives.renew()


def play_until_broken(items: list[Planned], asked: argparse.Namespace, deadline: float) -> list[Planned]:
    """Play these cells; return what is left when the GPU failed under cell after cell, as it does once it has."""
    from showdown.bench.engine import RunLimits, make_engine
    from showdown.bench.store import Store

    limits = RunLimits(processes=asked.workers, all_seconds=max(0.0, deadline - time.monotonic()))
    left = {item.cell.hash: item for item in items}
    failed: list[Planned] = []  # the last ones, if the GPU failed under each of them
    played, began = 0, time.monotonic()
    said = began
    for result in make_engine("processes", Store(asked.out)).run(items, limits):
        if result.status == "timeout":  # time is up
            return []
        item = left.pop(result.cell.hash)
        if result.status != "done":
            print(f"{result.cell.label}: {result.status}: {result.reason}", flush=True)
        played += result.status == "done"
        failed = [*failed, item] if "cuda" in result.reason.lower() else []
        if len(failed) == ERRORS:  # once more in new processes, if the GPU worked at all
            return [*left.values(), *failed] if played else []
        if time.monotonic() - said > EVERY:
            said = time.monotonic()
            print(f"{said - began:.0f} s: {len(items) - len(left)} of {len(items)} cells; {load()}", flush=True)
    return []


def load() -> str:
    """How busy the machine is, to choose the number of workers by."""
    text = f"load {os.getloadavg()[0]:.0f}"
    if shutil.which("nvidia-smi"):
        asked = ["nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader"]
        text += ", GPU " + subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return text


@contextmanager
def shared_gpu() -> Iterator[None]:
    """NVIDIA's MPS, where it can be started: the kernels of several processes run side by side, not by turns."""
    control = shutil.which("nvidia-cuda-mps-control")
    started = control is not None and subprocess.run([control, "-d"], check=False).returncode == 0
    print(f"MPS: {'on' if started else 'off'}", flush=True)
    try:
        yield
    finally:
        if started:  # only the one started here
            subprocess.run([str(control)], input="quit\n", text=True, check=False, timeout=30)


class Archives:
    """All finished cells of `--out` as files that are whole at any moment; the last one grows, the others stay."""

    def __init__(self, folder: Path | None, out: Path, suites: dict[str, str]) -> None:
        self.folder, self.cells, self.suites = folder, out / "cells", suites
        self.number = 1
        self.kept: set[str] = set()  # cells of archives that are full

    def renew(self) -> None:
        if self.folder is None:
            return
        done = {path.stem for path in self.cells.glob("*.parquet") if path.with_suffix(".json").exists()}
        new = sorted(done.intersection(self.suites) - self.kept)
        if not new:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self.folder / f"cells-{self.number}.tar.gz"
        with tarfile.open(target.with_suffix(".new"), "w:gz", compresslevel=1) as archive:
            for cell in new:
                for ending in ("parquet", "json"):
                    archive.add(self.cells / f"{cell}.{ending}", arcname=f"{self.suites[cell]}/cells/{cell}.{ending}")
        os.replace(target.with_suffix(".new"), target)
        if target.stat().st_size > LARGEST:
            self.number += 1
            self.kept.update(new)


def main() -> None:
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("plan", "play"))
    parser.add_argument("suites", nargs="+", help="shipped suites or .toml files")
    parser.add_argument("--seconds", type=float, default=560.0, help="of a call, planning included")
    parser.add_argument("--workers", type=int, default=24, help="processes that play")
    parser.add_argument("--only", default="*", help="policies to play, with commas; * stands for anything")
    parser.add_argument("--without", default="", help="policies to leave out")
    parser.add_argument("--problems", default="*", help="problems to play")
    parser.add_argument("--seed", type=int, help="instead of the suites'")
    parser.add_argument("--longest", type=float, default=float("inf"), help="leave out cells of more GPU seconds")
    parser.add_argument("--out", type=Path, default=ROOT / "scratch" / "cells", help="where cells are stored")
    parser.add_argument("--archive", type=Path, help="a folder for all cells as .tar.gz, also while playing")
    asked = parser.parse_args()
    with planning_on_cpu():
        jobs, total = missing(asked)
    show(jobs, total, asked.seconds)
    if asked.what == "play":
        play(jobs, asked, began + asked.seconds)
        played = sum((asked.out / "cells" / f"{job.item.cell.hash}.parquet").exists() for job in jobs)
        print(f"{played} of {len(jobs)} cells played in {time.monotonic() - began:.0f} s", flush=True)


@contextmanager
def planning_on_cpu() -> Iterator[None]:
    """This process leaves the GPU to those that it starts later, which take their platform from the environment."""
    before = os.environ.get("JAX_PLATFORMS")
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import jax

        jax.devices()
        yield
    finally:
        del os.environ["JAX_PLATFORMS"]
        if before is not None:
            os.environ["JAX_PLATFORMS"] = before


if __name__ == "__main__":
    main()
