"""`showdown recommend FILE`: which method to use on a table of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from showdown.cli import console
from showdown.cli.leaderboard import leaderboard
from showdown.cli.load import Load, load_files
from showdown.cli.table_options import (
    Categorical,
    Costs,
    Delimiter,
    File,
    Header,
    Ignore,
    Keep,
    Label,
    RewardMatrix,
    Rewards,
)


def register(app: typer.Typer) -> None:
    app.command("recommend")(recommend_command)


def recommend_command(
    file: File,
    label: Label = "",
    rewards: Rewards = "",
    reward_matrix: RewardMatrix = "",
    costs: Costs = "",
    ignore: Ignore = "",
    categorical: Categorical = "",
    keep: Keep = "",
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    budget: Annotated[str, typer.Option(help="How long it may take: 90s, 2m, 1h.")] = "5m",
    policies: Annotated[
        str | None, typer.Option("--policies", "--policy", help="Instead of the usual set: A,B[field=value]")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed; the same one gives the same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Where results, the page and the agent's file are kept.")] = Path(
        "recommendation"
    ),
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Play a sensible set of methods on a table, drop what is clearly behind, and say which to use."""
    load_files(load)

    from showdown.config.registry import split_outside_brackets
    from showdown.recommendation import recommend
    from showdown.report.formats.text import wrapped

    with leaderboard() as show:
        found = recommend(
            file,
            label=label,
            rewards=rewards,
            reward_matrix=reward_matrix,
            costs=costs,
            ignore=ignore,
            categorical=categorical,
            keep=keep,
            delimiter=delimiter,
            header=header,
            budget=budget,
            policies=split_outside_brackets(policies) if policies else None,
            seed=seed,
            out=out,
            show=show,
            load=tuple(load or ()),
        )
    if as_json:
        console.data_json(found.to_json())
    else:
        console.data("\n".join(wrapped(line, console.width()) for line in found.lines))
