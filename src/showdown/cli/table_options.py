"""The options that say how a table of the user's own is read. `inspect`, `recommend` and `evaluate` share them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Argument(help="CSV (any common delimiter), JSON, Parquet, ARFF, KEEL or NumPy.")]
Label = Annotated[str, typer.Option(help="The column of the right class, by name or position.")]
Rewards = Annotated[str, typer.Option(help="Or the reward columns, one per action: a+b+c or 'reward_*'.")]
RewardMatrix = Annotated[str, typer.Option(help="A file: a row per class, a column per action.")]
Costs = Annotated[str, typer.Option(help="Or what a mistake costs, by class: spam:1+ham:20.")]
Ignore = Annotated[str, typer.Option(help="Columns to leave out: a+b.")]
Categorical = Annotated[str, typer.Option(help="Columns of numbers that are categories: a+b.")]
Keep = Annotated[str, typer.Option(help="Columns to keep though they look like row names, or part of a log: a+b.")]
Delimiter = Annotated[str, typer.Option(help="comma, semicolon, tab, pipe or space; default: found out.")]
Header = Annotated[str, typer.Option(help="yes or no: whether text begins with column names.")]
