"""`showdown tune`: search for good values of a policy's fields."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    from showdown.api.tune import Tuned


def register(app: typer.Typer) -> None:
    app.command("tune", epilog="Example: showdown tune LinFullPost --on statlog --budget 200")(tune_command)


def tune_command(
    policy: Annotated[
        str, typer.Argument(help="The policy to tune; its values are the default to beat.", autocompletion=policy_names)
    ],
    on: Annotated[
        str, typer.Option("--on", help="The problem, or several: X,Y[field=value].", autocompletion=problem_names)
    ],
    objective: Objective = "cumulative",
    combine: Annotated[
        str, typer.Option(help="Several problems: mean regret relative to the default's (regret), or mean rank (rank).")
    ] = "regret",
    budget: Budget = "128",
    trials: Trials = 20,
    final_trials: Annotated[int, typer.Option(help="Trials of the comparison with the default at the end.")] = 50,
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
    """Search for good values of a policy's fields.

    The best is compared with the default on fresh episodes.
    """
    from showdown.api.tune import Tuned
    from showdown.bench.store import Store
    from showdown.config.registry import split_outside_brackets
    from showdown.tuning.request import request_for
    from showdown.tuning.tune import tune

    use_data_folder(data_dir)
    load_files(load)
    request = request_for(
        policy,
        split_outside_brackets(on),
        split_outside_brackets(fields or ""),
        horizon=horizon,
        budget=budget,
        objective=objective,
        combine=combine,
        trials=trials,
        final_trials=final_trials,
        batch=batch,
        sampler=sampler,
        halving=halving,
        seed=seed,
    )
    player = chosen_player(engine, processes, address, load)
    with clean_stop(f"all that was played is kept in {out}"), console.progress(1.0, "starting") as advance:
        tuned = Tuned(*tune(request, Store(out), advance, player), out)
    _print(tuned, as_json)


def _print(tuned: Tuned, as_json: bool) -> None:
    from showdown.api.tuning_lines import lines_of

    history, result = tuned.history, tuned.result
    if as_json:
        found = {"preset": str(tuned.preset), "name": history.request.preset, "candidates": len(history.entries)}
        console.data_json({"out": str(tuned.folder), **found, "verdict": result.verdict, **asdict(result)})
        return
    console.data("\n".join(lines_of(history, result, tuned.preset)))
