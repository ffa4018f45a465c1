"""Several processes on one store, and processes that are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

from attacks import Score, made_cell, made_outcome, made_store, rows_by_cell, write_cell
from showdown.basics.files import TEMPORARY, sweep
from showdown.bench.engine import RunLimits
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.bench.verify import DAMAGED, check_store

# a clean process that has imported everything and is forked for each child: importing JAX takes seconds
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["attacks.sharing"])


def names_of_writers(directory: Path, writers: int = 4, each: int = 50) -> Score:
    """All give names of their own to one cell at the same time."""
    score = Score(f"{writers} processes name one cell", tried=writers * each)
    made_store(directory, 1)
    score.crashed += _together(_give_names, [(directory, writer, each) for writer in range(writers)])
    score.lost += writers * each + 1 - len(Store(directory).cells())
    return score


def _give_names(directory: Path, writer: int, each: int) -> None:
    for number in range(each):
        Store(directory).add_names(made_cell(0), [(f"writer {writer}", f"name {number}")])


def runs_on_one_store(directory: Path, runs: int = 4, cells: int = 36) -> Score:
    """All play the same plan: a cell that is played twice counts as lost work."""
    score = Score(f"{runs} runs play one plan", tried=runs * cells)
    Store(directory).prepare()
    score.crashed += _together(_play, [(directory, cells, run) for run in range(runs)])
    played = (directory / "played").read_text().splitlines()
    score.lost += len(played) - len(set(played)) + cells - len({record.cell for record in Store(directory).cells()})
    return score


def _play(directory: Path, cells: int, run: int) -> None:
    """With a game of a few milliseconds, in an order of its own."""
    from showdown.bench import play_cell
    from showdown.bench.compilation import CompileAhead
    from showdown.bench.engines.local import Local

    def simulate(policy: object, problem: object, *, seed: int, **_: object) -> object:
        time.sleep(0.01)
        with (directory / "played").open("a") as stream:
            stream.write(f"{seed}\n")
        return made_outcome(seed)

    play_cell.simulate = simulate
    CompileAhead.before = lambda *_: None  # no program is used
    planned = [Planned(made_cell(number), [(f"run {run}", "wheel-0.5")], False) for number in range(cells)]
    random.Random(run).shuffle(planned)
    if not all(result.status == "done" for result in Local(Store(directory)).run(planned, RunLimits())):
        raise RuntimeError("a cell was not played")


def killed_writers(directory: Path, kills: int = 40) -> Score:
    """Whoever writes cells is killed at any moment. What was finished stays, and nothing is half there."""
    score = Score("a writer is killed (-9)")
    chance = random.Random(kills)
    known: dict[str, object] = {}
    for kill in range(kills):
        process = CONTEXT.Process(target=_write_for_ever, args=(directory, 1000 * kill))
        process.start()
        while not (directory / f"{kill}").exists() and process.is_alive():
            time.sleep(0.005)
        time.sleep(0.1 * chance.random())
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        with score.attempt():
            store = Store(directory)
            now = rows_by_cell(store.frame())
            score.lost += sum(cell not in now or not now[cell].equals(rows) for cell, rows in known.items())
            score.silent += len(store.warnings)  # a cell that was killed in the making must not exist at all
            known = dict(now)
            store.prepare()
    score.silent += sum(finding.state == DAMAGED for finding in check_store(Store(directory)))
    sweep(directory / "cells", seconds=0)
    score.lost += any(path.name.startswith((TEMPORARY, ".lock-")) for path in (directory / "cells").iterdir())
    return score


def _write_for_ever(directory: Path, first: int) -> None:
    store = Store(directory)
    store.prepare()
    (directory / f"{first // 1000}").touch()
    for number in range(first, first + 1000):
        with store.claim(made_cell(number).hash):
            write_cell(store, number)


def _together(work: object, arguments: list[tuple[object, ...]]) -> int:
    """How many of the processes crashed."""
    processes = [CONTEXT.Process(target=work, args=args) for args in arguments]  # type: ignore[arg-type]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    hanging = [process for process in processes if process.is_alive()]
    for process in hanging:
        process.kill()
    return sum(process.exitcode != 0 for process in processes)
