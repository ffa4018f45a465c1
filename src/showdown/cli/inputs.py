"""What a user names on the command line: files to load, a data folder, a table of their own, names of stored cells."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load",
        metavar="FILE",
        help="A Python file with policies or problems, or a TOML file of presets; may be repeated.",
    ),
]


def load_files(paths: list[Path] | None) -> None:
    if paths:
        from showdown import policies, problems  # noqa: F401  what presets in a file vary must be known first
        from showdown.config.registry import load_file

        for path in paths:
            load_file(path)


DataFolder = Annotated[Path | None, typer.Option(help="A folder with raw data files, used before any other.")]


def use_data_folder(folder: Path | None) -> None:
    """Use this folder of data in this process and in those that it starts."""
    if folder is not None:
        os.environ["SHOWDOWN_DATA"] = str(folder)


File = Annotated[Path, typer.Argument(help="CSV (any common delimiter), JSON, Parquet, ARFF, KEEL or NumPy.")]
Label = Annotated[str, typer.Option(help="The column of the right class, by name or position.")]
Rewards = Annotated[str, typer.Option(help="Or the reward columns, one per action: a+b+c or 'reward_*'.")]
RewardMatrix = Annotated[str, typer.Option(help="A file: a row per class, a column per action.")]
Costs = Annotated[str, typer.Option(help="Or what a mistake costs, by class: spam:1+ham:20.")]
Ignore = Annotated[str, typer.Option(help="Columns to leave out: a+b.")]
Categorical = Annotated[str, typer.Option(help="Columns of numbers that are categories: a+b.")]
Keep = Annotated[str, typer.Option(help="Columns to keep though they look like row names, or part of a log: a+b.")]
Features = Annotated[str, typer.Option(help="Features of each action, price.NAME by stem: price+display, or all.")]
Payoff = Annotated[str, typer.Option(help="What the right action of a row pays instead of 1, by stem: margin.")]
Delimiter = Annotated[str, typer.Option(help="comma, semicolon, tab, pipe or space; default: found out.")]
Header = Annotated[str, typer.Option(help="yes or no: whether text begins with column names.")]


def chosen(text: str | None, noun: str, stored: Iterable[str]) -> list[str] | None:
    """The store's names that `A,B*` asks for, in the order asked; None for all."""
    from showdown.api.names import chosen_names

    return None if text is None else chosen_names(text, noun, stored)
