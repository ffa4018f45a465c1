"""The options that `showdown tune` and `showdown study tuned` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from showdown.cli.run_options import chosen_limits

if TYPE_CHECKING:
    from showdown.tuning.play_candidates import PlayCells

Objective = Annotated[str, typer.Option(help="What counts: cumulative or simple regret, or reward.")]
Budget = Annotated[str, typer.Option(help="Candidates, or the time spent playing them: 200, 90s, 10m, 2h.")]
Trials = Annotated[int, typer.Option(help="Trials of each candidate.")]
Fields = Annotated[
    str | None, typer.Option(help="Fields to search, with patterns: a,b* ('*': all). Default: every float.")
]
Batch = Annotated[int, typer.Option(help="Candidates that are proposed and played together.")]
Sampler = Annotated[str, typer.Option(help="What proposes candidates: gp, random, sobol, optuna-gp or optuna-tpe.")]
Halving = Annotated[bool, typer.Option(help="Give the worse half of a batch up at an eighth of the horizon.")]
Seed = Annotated[int, typer.Option(help="The seed; the same one gives the same numbers.")]
Out = Annotated[Path, typer.Option(help="Where results are kept.")]
EngineName = Annotated[
    str | None, typer.Option(help="Play each candidate as a cell by this engine; default: many as one program.")
]
Processes = Annotated[int | None, typer.Option(help="Candidates played at the same time, each in its own process.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def chosen_player(
    engine: str | None, processes: int | None, address: str | None, load: list[Path] | None
) -> PlayCells | None:
    """None: populations, in this process."""
    if engine is None and processes in (None, 1) and address is None:
        return None
    from showdown.api.play import chosen_engine
    from showdown.tuning.play_candidates import by_engine

    name, count = chosen_engine(engine, processes)
    return by_engine(name, chosen_limits(name, count, None, None, load, address, None, None))
