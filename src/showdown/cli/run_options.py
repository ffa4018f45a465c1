"""The options that say what is played (a suite, and what replaces parts of it) and how (an engine and its limits)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console
from showdown.cli.completion import policy_names, problem_names, suite_names
from showdown.cli.inputs import use_data_folder

if TYPE_CHECKING:
    from showdown.bench.engine import RunLimits
    from showdown.bench.plan import Planned
    from showdown.bench.store import Store
    from showdown.bench.suite import Suite


SuiteName = Annotated[
    str, typer.Argument(help="A shipped suite or a .toml file; see `showdown list suites`.", autocompletion=suite_names)
]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policies", "--policy", help="Instead of the suite's: A,B[field=value],Lin*", autocompletion=policy_names
    ),
]
Problems = Annotated[
    str | None,
    typer.Option(
        "--problems", "--problem", help="Instead of the suite's: X,Y[field=value],wheel-*", autocompletion=problem_names
    ),
]
Trials = Annotated[int | None, typer.Option(help="Independent trials of each cell.")]
Horizon = Annotated[int | None, typer.Option(help="Steps of a trial, instead of each problem's own.")]
Seed = Annotated[int | None, typer.Option(help="The seed; the same one gives the same numbers.")]
Out = Annotated[str, typer.Option(metavar="DIR", help="Where results are kept: a folder, or a URL as s3://bucket/x.")]


def chosen_suite(
    name: str, policies: str | None, problems: str | None, trials: int | None, horizon: int | None, seed: int | None
) -> Suite:
    """The suite with what was asked for instead of its own."""
    from showdown.bench.suite import changed, load_suite
    from showdown.config.registry import split_outside_brackets

    changes: dict[str, Any] = {"trials": trials, "horizon": horizon, "seed": seed}
    for field, names in (("policies", policies), ("problems", problems)):
        if names is not None:
            changes[field] = tuple(split_outside_brackets(names))
    return changed(load_suite(name), {field: item for field, item in changes.items() if item is not None})


def planned_cells(suite: Suite, store: Store, data_dir: Path | None) -> list[Planned]:
    """The plan of a suite, with a warning about each horizon that was shortened and each damaged cell."""
    from showdown.api.play import warn_of_plan
    from showdown.bench.plan import plan

    use_data_folder(data_dir)
    notes: list[str] = []
    planned = plan(suite, store, notes)
    warn_of_plan(planned, notes, store, console.warn)
    return planned


EngineName = Annotated[
    str | None, typer.Option(help="What plays the cells; default: local, or processes with --processes N.")
]
Processes = Annotated[int | None, typer.Option(help="Cells played at the same time, each in a process of its own.")]
Address = Annotated[
    str | None, typer.Option(help="A running Ray cluster: auto or HOST:PORT; default: one on this machine alone.")
]
CellCpus = Annotated[float | None, typer.Option(help="Cores that a cell asks the Ray cluster for; default: 1.")]
CellGpus = Annotated[
    float | None,
    typer.Option(help="GPUs that a cell asks the Ray cluster for, such as 0.25; default: 1 if there are any."),
]
BatchTrials = Annotated[int | None, typer.Option(help="Trials played at once; default: as many as fit.")]
CellSeconds = Annotated[float | None, typer.Option(help="Give a cell up after this many seconds.")]


def chosen_limits(
    engine: str,
    processes: int,
    batch_trials: int | None,
    cell_seconds: float | None,
    load: list[Path] | None,
    address: str | None,
    cell_cpus: float | None,
    cell_gpus: float | None,
) -> RunLimits:
    from showdown.bench.engine import RunLimits

    ray_only = {"--address": address, "--cell-cpus": cell_cpus, "--cell-gpus": cell_gpus}
    given = [option for option, value in ray_only.items() if value is not None]
    if given and engine != "ray":
        raise UsageError(f"{given[0]} is for --engine ray, and the engine is {engine}")
    return RunLimits(
        batch_trials=batch_trials,
        cell_seconds=cell_seconds,
        processes=processes,
        load=tuple(load or ()),
        address=address,
        cell_cpus=1.0 if cell_cpus is None else cell_cpus,
        cell_gpus=cell_gpus,
    )
