"""`showdown table`: the cells of a store as one table of policies × problems, with the paper's numbers if asked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.basics.errors import UsageError
from showdown.basics.text import near
from showdown.cli import console
from showdown.cli.completion import metric_names, policy_names, problem_names
from showdown.cli.inputs import chosen
from showdown.metrics import MAIN, METRICS
from showdown.report.formats import FORMATS

if TYPE_CHECKING:  # pandas is loaded only when a table is made
    from showdown.analysis.table import Table, TableRequest
    from showdown.api.cells import Cells

SOURCES = ("paper", "paper-linear", "short-track", "later-wheels", "zero-one")
PAPER_TABLES = (
    "main",
    "nonlinear-cumulative",
    "nonlinear-simple",
    "nonlinear-time",
    "wheel-cumulative",
    "wheel-simple",
    "linear-cumulative",
    "linear-simple",
)


Rows = Annotated[
    str | None,
    typer.Option(
        "--policies", "--policy", help="Show only these rows: A,B[field=value],Lin*", autocompletion=policy_names
    ),
]
Columns = Annotated[
    str | None,
    typer.Option("--problems", "--problem", help="Show only these columns: X,Y,wheel-*", autocompletion=problem_names),
]

Aggregate = Annotated[
    bool, typer.Option("--aggregate", help="Instead: one line per policy, over all problems shown, with intervals.")
]

Rank = Annotated[
    bool, typer.Option("--rank", help="Add the mean rank over the problems shown; with --against, the paper's ten.")
]
Others = Annotated[
    list[Path] | None, typer.Option("--with", metavar="DIR", help="Cells of this folder, too; may be repeated.")
]


def register(app: typer.Typer) -> None:
    app.command("table", epilog="Example: showdown table results --rank")(table_command)


def table_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where results are kept.")] = Path("results"),
    metric: Annotated[
        str | None,
        typer.Option(help=f"What to show: {', '.join(METRICS)}.", show_default=MAIN, autocompletion=metric_names),
    ] = None,
    paper: Annotated[
        str | None, typer.Option(metavar="TABLE", help=f"One of the paper's tables: {', '.join(PAPER_TABLES)}.")
    ] = None,
    absolute: Annotated[bool, typer.Option("--absolute", help="Regret or seconds as they are, not relative.")] = False,
    expected: Annotated[bool, typer.Option("--expected", help="Regret of mean rewards, not of drawn ones.")] = False,
    output: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    against: Annotated[str | None, typer.Option(help=f"Compare with published numbers: {', '.join(SOURCES)}.")] = None,
    policies: Rows = None,
    problems: Columns = None,
    horizon: Annotated[int | None, typer.Option(help="Only cells of this many steps.")] = None,
    seed: Annotated[int | None, typer.Option(help="Only cells of this seed.")] = None,
    trials: Annotated[int | None, typer.Option(help="Only cells of this many trials.")] = None,
    rank: Rank = False,
    sort: Annotated[str | None, typer.Option(help="Best first by a problem, or by rank.")] = None,
    aggregate: Aggregate = False,
    others: Others = None,
) -> None:
    """Print every finished cell: mean ± standard error, as % of Uniform."""
    output = "json" if as_json else output
    _check_paper(paper, {"--metric": metric, "--problems": problems, "--absolute": absolute})
    _check_choice("metric", metric or MAIN, METRICS)
    _check_choice("format", output, FORMATS)
    _check_against(against, paper, absolute)
    _check_expected(expected, "time" if paper == "nonlinear-time" else metric or MAIN)
    if aggregate:
        _check_aggregate(
            {"--paper": paper, "--against": against, "--absolute": absolute, "--rank": rank, "--sort": sort}
        )

    from showdown.api.cells import together
    from showdown.api.open import cells_in
    from showdown.api.tables import request_for, table_of

    store = together([cells_in(folder, console.warn) for folder in (directory, *(others or ()))])
    request = request_for(
        metric=metric or MAIN,
        absolute=absolute,
        expected=expected,
        source=against,
        rank=rank or sort == "rank",
        sort=sort,
        policies=chosen(policies, "policy", [record.policy for record in store.records]),
        problems=chosen(problems, "problem", [record.problem for record in store.records]),
    )
    filters = {"horizon": horizon, "seed": seed, "trials": trials}
    if aggregate:
        console.data(_aggregated(store, request, filters, output))
    else:
        _print(table_of(store, request, filters, paper), output)


def _check_against(against: str | None, paper: str | None, absolute: bool) -> None:
    if against is not None:
        _check_choice("against", against, SOURCES)
    if paper is not None and against == "paper-linear" and not paper.startswith("linear"):
        raise UsageError(f"--paper {paper} has its own published numbers: say --against paper")
    if absolute and against == "paper":
        raise UsageError("the paper's numbers are relative to Uniform, or to RMS for time: leave out --absolute")


def _check_paper(paper: str | None, given: dict[str, Any]) -> None:
    if paper is not None:
        _check_choice("paper", paper, PAPER_TABLES)
        for option in (name for name, value in given.items() if value):
            raise UsageError(f"--paper {paper} says by itself what {option} would: leave one of them out")


def _check_expected(expected: bool, metric: str) -> None:
    if expected and METRICS[metric].expected_step is None:
        raise UsageError(f"--expected is about regret and has no meaning for --metric {metric}")


def _check_aggregate(given: dict[str, Any]) -> None:
    for option in (name for name, value in given.items() if value):
        raise UsageError(f"--aggregate has a table of its own: leave out {option}")


def _aggregated(store: Cells, request: TableRequest, filters: dict[str, int | None], output: str) -> str:
    from showdown.analysis.aggregates import aggregates
    from showdown.analysis.selection import select
    from showdown.report.aggregates import write

    frame = select(store.frame, **filters).frame
    asked = frame[request.shows(frame)]
    if asked.empty:
        raise UsageError("none of the cells that were asked for is finished")
    return write(aggregates(asked, request.metric, expected=request.expected), output)


def _print(table: Table, output: str) -> None:
    from showdown.report import formats
    from showdown.report.grid import footer

    form = formats.load(output)
    if output == "text":
        console.data_table(form.parts(table, console.width()))
    else:
        console.data(form.write(table, console.width()))
    if getattr(form, "NOTES_APART", False):
        for line in footer(table):
            console.warn(line)


def _check_choice(option: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        raise UsageError(f"--{option} is one of {', '.join(choices)}, not {value!r}{near(value, choices)}")
