"""`showdown evaluate LOG`: what policies would have earned on decisions that another one took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console
from showdown.cli.inputs import Categorical, Delimiter, Header, Load, load_files

if TYPE_CHECKING:
    from showdown.logged.log import Log


def register(app: typer.Typer) -> None:
    app.command("evaluate", epilog="Example: showdown evaluate log.csv --action ad --reward click --propensity p")(
        evaluate_command
    )


Available = Annotated[
    str, typer.Option(help="The column of lists of available actions (a|b), or 0/1 columns: 'available_*'.")
]
Features = Annotated[
    str, typer.Option(help="Columns with a feature of each action, by stem: affinity of affinity_0, affinity_1, …")
]
LogFile = Annotated[
    Path, typer.Argument(help="A row per decision: CSV, JSON, Parquet, ARFF, KEEL or NumPy; or an agent's journal.")
]


def _read(path: Path, **options: Any) -> Log:
    """The log in a file; the journal of an agent says itself what is what."""
    from showdown.logged.read_log import read_log
    from showdown.serve.journal_log import is_journal, journal_log

    if not is_journal(path):
        return read_log(path, **options)
    given = [name for name, value in options.items() if value and value != "auto"]
    if given:
        raise UsageError(f"{path} is the journal of an agent, which needs no --{given[0]}: leave it out")
    return journal_log(path)


def evaluate_command(
    log: LogFile,
    action: Annotated[str, typer.Option(help="The column of the action taken; default: found by its name.")] = "",
    reward: Annotated[str, typer.Option(help="The column of the reward it paid; default: found by its name.")] = "",
    propensity: Annotated[str, typer.Option(help="The column of the probability with which it was taken.")] = "",
    time: Annotated[str, typer.Option(help="The column to sort by; default: rows are in no particular order.")] = "",
    available: Available = "",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A policy's name, uniform, or 'always ACTION'; several by commas or by repeating."
        ),
    ] = None,
    ignore: Annotated[str, typer.Option(help="Columns that are not context: a+b.")] = "",
    categorical: Categorical = "",
    keep: Annotated[str, typer.Option(help="Columns to keep though they look like row names: a+b.")] = "",
    items: Annotated[str, typer.Option(help="A file with features of each action: a row per action.")] = "",
    features: Features = "",
    where: Annotated[str, typer.Option(help="Only rows where this is so: position=1.")] = "",
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of all that is drawn at random.")] = 0,
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Estimate from a log what policies would have earned.

    It says where the log cannot answer.
    """
    from showdown.config.registry import split_outside_brackets
    from showdown.logged.evaluate import evaluate

    load_files(load)
    read = _read(
        log,
        action=action,
        reward=reward,
        propensity=propensity,
        time=time,
        available=available,
        ignore=ignore,
        categorical=categorical,
        keep=keep,
        items=items or None,
        features=features,
        where=where,
        delimiter=delimiter,
        header=header,
    )
    names = [name for text in policy or () for name in split_outside_brackets(text)]
    found = evaluate(names or None, read, level=level, seed=seed)
    if as_json:
        console.data_json({"log": str(log), **found.plain()})
    else:
        console.data(f"{log}: {found}")
