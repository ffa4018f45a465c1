"""The options that say how cells are played, and by what: an engine, its processes or its cluster, and limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from showdown.basics.errors import UsageError
from showdown.machine.cores import cores

if TYPE_CHECKING:
    from showdown.bench.engine import Limits

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


def chosen_engine(engine: str | None, processes: int | None) -> tuple[str, int]:
    """The engine's name and the number of processes, from the options given."""
    if engine is None:
        engine = "local" if processes in (None, 1) else "processes"
    if engine == "local" and (processes or 1) > 1:
        raise UsageError(f"the engine local plays in one process: leave out --processes {processes}, or the engine")
    if processes is None:
        processes = 1 if engine == "local" else max(2, cores())
    return engine, processes


def chosen_limits(
    engine: str,
    processes: int,
    batch_trials: int | None,
    cell_seconds: float | None,
    load: list[Path] | None,
    address: str | None,
    cell_cpus: float | None,
    cell_gpus: float | None,
) -> Limits:
    from showdown.bench.engine import Limits

    ray_only = {"--address": address, "--cell-cpus": cell_cpus, "--cell-gpus": cell_gpus}
    given = [option for option, value in ray_only.items() if value is not None]
    if given and engine != "ray":
        raise UsageError(f"{given[0]} is for --engine ray, and the engine is {engine}")
    return Limits(
        batch_trials=batch_trials,
        cell_seconds=cell_seconds,
        processes=processes,
        load=tuple(load or ()),
        address=address,
        cell_cpus=1.0 if cell_cpus is None else cell_cpus,
        cell_gpus=cell_gpus,
    )
