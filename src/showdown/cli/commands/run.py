"""`showdown run`: play a suite and keep its cells."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.cli import console
from showdown.cli.console import clean_stop
from showdown.cli.inputs import DataFolder, Load, load_files
from showdown.cli.run_options import (
    Address,
    BatchTrials,
    CellCpus,
    CellGpus,
    CellSeconds,
    EngineName,
    Horizon,
    Out,
    Policies,
    Problems,
    Processes,
    Seed,
    SuiteName,
    Trials,
    chosen_limits,
    chosen_suite,
    planned_cells,
)
from showdown.cli.run_output import Board, measure_speed, print_plan, row

if TYPE_CHECKING:
    from showdown.bench.engine import CellResult, Engine, RunLimits
    from showdown.bench.plan import Planned
    from showdown.bench.remote import Mirror
    from showdown.bench.store import Store


def register(app: typer.Typer) -> None:
    app.command("run", epilog="Example: showdown run quick --policies LinFullPost,Uniform --trials 20")(run_command)


def run_command(
    suite: SuiteName = "quick",
    policies: Policies = None,
    problems: Problems = None,
    trials: Trials = None,
    horizon: Horizon = None,
    seed: Seed = None,
    out: Out = "results",
    batch_trials: BatchTrials = None,
    processes: Processes = None,
    engine: EngineName = None,
    address: Address = None,
    cell_cpus: CellCpus = None,
    cell_gpus: CellGpus = None,
    cell_seconds: CellSeconds = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Play one of N parts of about equal cost; see `showdown plan`.")
    ] = None,
    data_dir: DataFolder = None,
    load: Load = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and an estimate; play nothing.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure this machine's speed first, for estimates; a few minutes.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Play policies on problems and keep every finished cell."""
    from showdown.api.play import chosen_engine, opened_store, warn_of_tables
    from showdown.bench.engine import make_engine
    from showdown.bench.shards import one_shard

    engine, processes = chosen_engine(engine, processes)
    resources = address, cell_cpus, cell_gpus
    limits = chosen_limits(engine, processes, batch_trials, cell_seconds, load, *resources)
    load_files(load)
    chosen = chosen_suite(suite, policies, problems, trials, horizon, seed)
    store, mirror = opened_store(out, console.warn)
    player = make_engine(engine, store)
    planned = planned_cells(chosen, store, data_dir)
    if shard is not None:
        planned = one_shard(planned, shard)
    warn_of_tables(planned, console.warn)
    if calibrate:
        measure_speed(planned)
    if dry_run:
        print_plan(chosen.name, planned, store, as_json)
        return
    with clean_stop(f"every finished cell is kept in {out}"):
        results = _play(planned, player, limits, store, mirror)
    _print_results(results, store, as_json)
    if mirror is not None:
        mirror.finish()
    if any(result.status != "done" for result in results):
        raise typer.Exit(1)


def _play(
    planned: list[Planned], player: Engine, limits: RunLimits, store: Store, mirror: Mirror | None
) -> list[CellResult]:
    from showdown.api.play import play
    from showdown.api.progress import is_terminal

    board = Board(store, len(planned))

    def each(result: CellResult) -> None:
        if is_terminal():
            console.warn(board.line(result))
        if mirror is not None and result.status == "done" and (late := mirror.upload(result.cell.hash)):
            console.warn(f"{result.cell.label}: not uploaded yet: {late}")

    bar = partial(console.progress, in_seconds=True)
    with redirect_stdout(sys.stderr):  # stdout is for the result alone, and Ray prints there what its workers do
        return play(planned, player, limits, store, bar, console.warn, each)


def _print_results(results: list[CellResult], store: Store, as_json: bool) -> None:
    from showdown.cli.run_output import closing_lines, closing_table, print_table

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
        console.data("\n".join(closing_lines(table, out)))


def _counted(results: list[CellResult], new: list[CellResult], out: Path) -> str:
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


def _row(result: CellResult) -> dict[str, Any]:
    return {
        **row(result.cell),
        "status": result.status,
        "reason": result.reason,
        "new": result.new,
        "compile_seconds": result.compile_seconds,
        "run_seconds": result.run_seconds,
        "diagnostics": result.diagnostics,
    }
