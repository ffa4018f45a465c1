"""`showdown plan`: how a suite is divided between machines that know nothing of each other."""

from __future__ import annotations

from typing import Annotated

import typer

from showdown.cli import console
from showdown.cli.inputs import DataFolder, Load, load_files
from showdown.cli.run_options import (
    Horizon,
    Out,
    Policies,
    Problems,
    Seed,
    SuiteName,
    Trials,
    chosen_suite,
    planned_cells,
)


def register(app: typer.Typer) -> None:
    app.command("plan", epilog="Example: showdown plan paper-wheel --shards 8")(plan_command)


def plan_command(
    suite: SuiteName = "quick",
    shards: Annotated[int, typer.Option(help="How many parts; `run --shard 1/N` to `run --shard N/N` play them.")] = 1,
    policies: Policies = None,
    problems: Problems = None,
    trials: Trials = None,
    horizon: Horizon = None,
    seed: Seed = None,
    out: Out = "results",
    data_dir: DataFolder = None,
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Divide a suite into shards of about equal cost; play nothing.

    The shards are the same on every machine.
    """
    from showdown.api.play import opened_store
    from showdown.bench.shards import divided
    from showdown.cli.run_output import print_shards

    load_files(load)
    store, _ = opened_store(out, console.warn)
    chosen = chosen_suite(suite, policies, problems, trials, horizon, seed)
    print_shards(chosen.name, divided(planned_cells(chosen, store, data_dir), shards), store, as_json)
