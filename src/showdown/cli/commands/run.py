"""`showdown run`: play a suite and keep its cells."""

from __future__ import annotations

import dataclasses
import os
import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.cli import console
from showdown.cli.load import LOAD, load_files
from showdown.errors import Terminated, UsageError

if TYPE_CHECKING:
    from showdown.bench.engine import Engine, Limits, Result
    from showdown.bench.plan import Planned
    from showdown.bench.store import Store
    from showdown.bench.suite import Suite


def register(app: typer.Typer) -> None:
    app.command("run")(run_command)


def run_command(
    suite: Annotated[
        str, typer.Argument(help="A shipped suite or a .toml file; see `showdown list suites`.")
    ] = "quick",
    policies: Annotated[
        str | None, typer.Option("--policies", "--policy", help="Instead of the suite's: A,B[field=value],Lin*")
    ] = None,
    problems: Annotated[
        str | None, typer.Option("--problems", "--problem", help="Instead of the suite's: X,Y[field=value],wheel-*")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Independent trials of each cell.")] = None,
    horizon: Annotated[int | None, typer.Option(help="Steps of a trial, instead of each problem's own.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed; the same one gives the same numbers.")] = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("results"),
    batch_trials: Annotated[int | None, typer.Option(help="Trials played at once; default: as many as fit.")] = None,
    processes: Annotated[
        int | None, typer.Option(help="Cells played at the same time, each in a process of its own.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="What plays the cells; default: local, or processes with --processes N.")
    ] = None,
    cell_seconds: Annotated[float | None, typer.Option(help="Give a cell up after this many seconds.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="A folder with raw data files, used before any other.")] = None,
    load: Annotated[list[Path] | None, LOAD] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and an estimate; play nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Play policies on problems and keep every finished cell."""
    from showdown.bench.engine import Limits, make_engine
    from showdown.bench.plan import plan
    from showdown.bench.store import Store

    engine, processes = _engine(engine, processes)
    limits = Limits(batch_trials=batch_trials, cell_seconds=cell_seconds, processes=processes, load=tuple(load or ()))
    if data_dir is not None:
        os.environ["SHOWDOWN_DATA"] = str(data_dir)
    load_files(load)
    chosen = _suite(suite, policies, problems, trials, horizon, seed)
    store = Store(out)
    player = make_engine(engine, store)
    notes: list[str] = []
    planned = plan(chosen, store, notes)
    for note in notes:
        console.warn(note)
    for item in planned:
        if item.cell.hash in store.damaged:
            console.warn(f"{item.cell.label}: the stored cell {item.cell.hash} is damaged, and is played again")
    _warn_of_tables(planned)
    if dry_run:
        _print_plan(chosen, planned, store, as_json)
        return
    try:
        with _terminated_like_interrupted():
            results = _play(planned, player, limits, store)
    except KeyboardInterrupt as stop:
        console.warn(f"stopped; every finished cell is kept in {out}, and the same command continues from there")
        raise typer.Exit(143 if isinstance(stop, Terminated) else 130) from None
    _print_results(results, store, as_json)
    if any(result.status != "done" for result in results):
        raise typer.Exit(1)


def _suite(
    name: str, policies: str | None, problems: str | None, trials: int | None, horizon: int | None, seed: int | None
) -> Suite:
    """The suite with what was asked for instead of its own."""
    from showdown.bench.suite import load_suite
    from showdown.registry import split_outside_brackets

    changes: dict[str, Any] = {"trials": trials, "horizon": horizon, "seed": seed}
    for field, names in (("policies", policies), ("problems", problems)):
        if names is not None:
            changes[field] = tuple(split_outside_brackets(names))
    if problems is not None:
        changes["problems_if_available"] = ()
    if trials is not None:
        changes["trials_of"] = {}
    return dataclasses.replace(load_suite(name), **{field: item for field, item in changes.items() if item is not None})


def _engine(engine: str | None, processes: int | None) -> tuple[str, int]:
    """The engine's name and the number of processes, from the options given."""
    if engine is None:
        engine = "local" if processes in (None, 1) else "processes"
    if engine == "local" and (processes or 1) > 1:
        raise UsageError(f"the engine local plays in one process: leave out --processes {processes}, or the engine")
    if processes is None:
        processes = 1 if engine == "local" else max(2, os.cpu_count() or 1)
    return engine, processes


def _warn_of_tables(planned: list[Planned]) -> None:
    """What is likely to mislead in tables of the user's own that are to be played."""
    problems = {item.cell.problem_name: item.cell.problem for item in planned if not item.done}
    for name, problem in problems.items():
        if hasattr(problem, "bandit_table"):
            for sentence in problem.bandit_table().warnings:
                console.warn(f"{name}: {sentence}")


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM raises `Terminated` here. Only the main thread may ask for that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _play(planned: list[Planned], player: Engine, limits: Limits, store: Store) -> list[Result]:
    from showdown.bench.estimate import seconds_of_each

    todo = [item.cell for item in planned if not item.done]
    seconds = seconds_of_each(todo, store)
    results = []
    with console.progress(sum(seconds.values()), "starting") as advance:
        position = {cell.hash: number for number, cell in enumerate(todo, 1)}

        def progress(cell: Any, steps: int) -> None:
            phase = "playing" if steps else "compiling"
            part = seconds.get(cell.hash, 0.0) * steps / (cell.trials * cell.problem.horizon)
            advance(part, f"{position.get(cell.hash, 0)}/{len(todo)} {cell.label}: {phase}")

        for result in player.run(planned, dataclasses.replace(limits, progress=progress)):
            results.append(result)
            if result.status != "done":
                console.warn(f"{result.cell.label}: {result.status}: {result.reason}")
            for name, value in result.diagnostics.items():
                if value:  # zero is how it should be, and no news
                    console.warn(f"{result.cell.label}: {name} up to {value:.1e}")
    order = {item.cell.hash: number for number, item in enumerate(planned)}
    return sorted(results, key=lambda result: order[result.cell.hash])


def _print_results(results: list[Result], store: Store, as_json: bool) -> None:
    from showdown.cli.closing import closing_table, print_table

    out = store.directory
    table = closing_table(store, [result.cell for result in results if result.status == "done"])
    if as_json:
        verdict = table.verdict.to_json() if table is not None and table.verdict is not None else None
        console.data_json({"out": str(out), "cells": [_row(result) for result in results], "verdict": verdict})
        return
    new = [result for result in results if result.new]
    console.data(_counted(results, new, out))
    if table is not None:
        print_table(table)
        console.data(f"as a page: showdown report {shlex.quote(str(out))} --open")


def _counted(results: list[Result], new: list[Result], out: Path) -> str:
    if not new:
        stored = "the cell is" if len(results) == 1 else f"all {len(results)} cells are"
        return f"nothing to do: {stored} already in {out}"
    counts = {status: sum(result.status == status for result in new) for status in {result.status for result in new}}
    said = ", ".join(
        f"{count} {status}" for status, count in sorted(counts.items(), key=lambda pair: pair[0] != "done")
    )
    found = len(results) - len(new)
    compiling = sum(result.compile_seconds for result in new)
    running = sum(result.run_seconds for result in new)
    already = f", {found} already stored" if found else ""
    return f"{said}{already} in {out} (compiling {compiling:.1f} s, running {running:.1f} s)"


def _row(result: Result) -> dict[str, Any]:
    cell = result.cell
    return {
        "policy": cell.policy_name,
        "problem": cell.problem_name,
        "horizon": cell.problem.horizon,
        "trials": cell.trials,
        "seed": cell.seed,
        "cell": cell.hash,
        "status": result.status,
        "reason": result.reason,
        "new": result.new,
        "compile_seconds": result.compile_seconds,
        "run_seconds": result.run_seconds,
        "diagnostics": result.diagnostics,
    }


def _print_plan(suite: Suite, planned: list[Planned], store: Store, as_json: bool) -> None:
    from showdown.bench.estimate import estimate_seconds

    todo = [item.cell for item in planned if not item.done]
    seconds, known = estimate_seconds(todo, store) if todo else (0.0, 0)
    if as_json:
        rows = [
            {
                "policy": item.cell.policy_name,
                "problem": item.cell.problem_name,
                "horizon": item.cell.problem.horizon,
                "trials": item.cell.trials,
                "seed": item.cell.seed,
                "cell": item.cell.hash,
                "done": item.done,
            }
            for item in planned
        ]
        console.data_json({"cells": rows, "estimated_seconds": seconds, "measured_cells": known})
        return
    for item in planned:
        cell = item.cell
        size = f"{cell.trials} trials × {cell.problem.horizon} steps, seed {cell.seed}"
        console.data(f"{'done ' if item.done else 'to do'}  {cell.label}  ({size})")
    basis = "from measured rates" if todo and known == len(todo) else "a rough guess for what was never run here"
    summary = f"about {_duration(seconds)}, {basis}" if todo else "nothing to do"
    console.data(f"{suite.name}: {len(planned)} cells, {len(planned) - len(todo)} already done; {summary}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
