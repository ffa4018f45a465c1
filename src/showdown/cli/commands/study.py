"""`showdown study`: experiments that take several runs. `tuned` tunes policies on one problem and reports on all."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.cli import console
from showdown.cli.completion import policy_names, problem_names
from showdown.cli.console import clean_stop
from showdown.cli.inputs import DataFolder, Load, load_files, use_data_folder
from showdown.cli.run_options import Address, Horizon
from showdown.cli.tuning_options import (
    AsJson,
    Batch,
    Budget,
    EngineName,
    Fields,
    Halving,
    Objective,
    Out,
    Processes,
    Sampler,
    Seed,
    Trials,
    chosen_player,
)

if TYPE_CHECKING:
    from showdown.protocol.problem import Problem
    from showdown.tuning.request import TuningRequest
    from showdown.tuning.tuned_study import Reported


def register(app: typer.Typer) -> None:
    studies = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    studies.command("tuned")(tuned_command)
    app.add_typer(studies, name="study", help="Experiments that take several runs.")

    @studies.callback()
    def group() -> None:
        """Experiments that take several runs."""


def tuned_command(
    policies: Annotated[
        str, typer.Option("--policies", "--policy", help="To tune: A,B[field=value].", autocompletion=policy_names)
    ],
    tune_on: Annotated[
        str,
        typer.Option(help="Tune on each of these problems by itself: mushroom,statlog.", autocompletion=problem_names),
    ],
    report_on: Annotated[str, typer.Option(help="Report on these: X,Y, or all whose data is at hand.")] = "all",
    objective: Objective = "cumulative",
    budget: Budget = "128",
    trials: Trials = 20,
    report_trials: Annotated[int, typer.Option(help="Trials of each comparison on fresh episodes.")] = 50,
    fields: Fields = None,
    horizon: Horizon = None,
    batch: Batch = 32,
    sampler: Sampler = "gp",
    halving: Halving = True,
    seed: Seed = 0,
    out: Out = Path("results"),
    processes: Processes = None,
    engine: EngineName = None,
    address: Address = None,
    data_dir: DataFolder = None,
    load: Load = None,
    as_json: AsJson = False,
) -> None:
    """Tune policies on some problems; compare default, published and tuned values on all, on fresh episodes."""
    from showdown.bench.store import Store
    from showdown.tuning.tuned_study import study

    use_data_folder(data_dir)
    load_files(load)
    requests, reported = _asked(
        policies,
        tune_on,
        report_on,
        fields,
        budget=budget,
        horizon=horizon,
        objective=objective,
        trials=trials,
        final_trials=report_trials,
        batch=batch,
        sampler=sampler,
        halving=halving,
        seed=seed,
    )
    player = chosen_player(engine, processes, address, load)
    steps = float(len(requests))
    with clean_stop(f"all that was played is kept in {out}"), console.progress(steps, "starting") as advance:
        rows = study(requests, reported, Store(out), report_trials, advance, player)
    _print(rows, as_json)


def _asked(
    policies: str, tune_on: str, report_on: str, fields: str | None, **options: Any
) -> tuple[list[TuningRequest], dict[str, Problem]]:
    """A tuning for each policy on each problem, and the problems to report on."""
    from showdown.config.registry import split_outside_brackets
    from showdown.tuning.request import all_playable, playable, request_for

    searched = split_outside_brackets(fields or "")
    requests = [
        request_for(policy, [problem], searched, **options)
        for policy in split_outside_brackets(policies)
        for problem in split_outside_brackets(tune_on)
    ]
    if report_on == "all":
        return requests, all_playable(options["horizon"])
    return requests, {name: playable(name, options["horizon"]) for name in split_outside_brackets(report_on)}


def _print(rows: list[Reported], as_json: bool) -> None:
    from showdown.tuning.tuned_study import sentences, table

    if as_json:
        console.data_json([asdict(row) for row in rows])
        return
    console.data_table([(table(rows), "table")])
    for sentence in sentences(rows):
        console.data(sentence)
