"""`showdown tune`: search for good values of a policy's fields."""

from __future__ import annotations

import shlex
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
    from showdown.tuning.fresh_choice import TuningResult
    from showdown.tuning.history import TuningHistory
    from showdown.tuning.request import TuningRequest


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
        history, result = tune(request, Store(out), advance, player)
    _print(request, history, result, out, as_json)


def _print(request: TuningRequest, history: TuningHistory, result: TuningResult, out: Path, as_json: bool) -> None:
    from showdown.tuning.history import proposals_file

    preset, called = proposals_file(out, request).with_suffix(".toml"), request.preset
    if as_json:
        found = {"preset": str(preset), "name": called, "candidates": len(history.entries)}
        console.data_json({"out": str(out), **found, "verdict": result.verdict, **asdict(result)})
        return
    for line in _said(request, history, result, preset, called):
        console.data(line)


def _said(request: TuningRequest, history: TuningHistory, result: TuningResult, preset: Path, called: str) -> list[str]:
    from showdown.tuning.space import at_an_end

    count = len(history.entries)
    played = ", ".join(f"{name} ({problem.horizon:,} steps)" for name, problem in request.problems.items())
    lines = [f"{count} candidates of {request.space.name} on {played}"]
    if result.is_default:
        lines.append(f"none beat {request.space.name} on fresh episodes: it stays as it is")
    else:
        lines.append(f"best on fresh episodes: {result.spelled}")
    ends = [] if result.is_default else at_an_end(request.space, result.candidate)
    if ends:
        lines.append(f"at an end of its search range, beyond which better values may lie: {', '.join(ends)}")
    for row in result.problems:
        numbers = f"{row.chosen:.5g}, default {row.default:.5g}"
        between = f"difference {row.difference:+.4g}, 95 % interval {row.low:+.4g} to {row.high:+.4g}"
        wins = f"better in {row.wins} of {row.trials} trials"
        lines.append(f"{request.objective} on {row.problem}: {numbers}; {between}; {wins}")
    if not result.is_default:
        lines.append(_judged(request, result))
    name = shlex.quote(f"{called},{request.space.name}")
    lines.append(f"to play it: showdown run quick --load {shlex.quote(str(preset))} --policies {name}")
    return [*lines, f"history: {preset.with_suffix('.csv')}"]


def _judged(request: TuningRequest, result: TuningResult) -> str:
    """Whether the chosen candidate is better than the default on episodes that nothing was chosen by."""
    from showdown.analysis.compare_trials import BETTER, WORSE

    better, worse = ([row.problem for row in result.problems if row.verdict == said] for said in (BETTER, WORSE))
    default = request.space.name
    if better:
        return f"better than {default} on {', '.join(better)}" + (f", worse on {', '.join(worse)}" if worse else "")
    if worse:
        where = f"worse than {default} on {', '.join(worse)} and clearly better nowhere"
        return f"{where}: keep {default}, or use more trials"
    return f"it cannot be told from {default}: keep that, or use more trials"
