"""`showdown compare A B`: one policy against another, problem by problem and over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console
from showdown.cli.completion import metric_names, policy_names, problem_names
from showdown.metrics import MAIN, METRICS

if TYPE_CHECKING:
    from showdown.analysis.head_to_head import HeadToHead, ProblemDifference


def register(app: typer.Typer) -> None:
    app.command("compare", epilog="Example: showdown compare LinFullPost LinGreedy results")(compare_command)


def compare_command(
    first: Annotated[str, typer.Argument(metavar="A", help="A policy of the store.", autocompletion=policy_names)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where results are kept.")] = Path("results"),
    metric: Annotated[str, typer.Option(help=f"One of {', '.join(METRICS)}.", autocompletion=metric_names)] = MAIN,
    problems: Annotated[
        str | None,
        typer.Option("--problems", "--problem", help="Only these: X,Y,wheel-*", autocompletion=problem_names),
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="Only cells of this many steps.")] = None,
    seed: Annotated[int | None, typer.Option(help="Only cells of this seed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Print the difference of two policies on every problem.

    It is paired over trials; the last lines say what follows from all problems together.
    """
    if metric not in METRICS:
        raise UsageError(f"--metric is one of {', '.join(METRICS)}, not {metric!r}")
    from showdown.api.open import cells_in
    from showdown.api.results import Results

    results = Results(cells_in(directory, console.warn))
    found = results.compare(first, second, metric, problems=problems, horizon=horizon, seed=seed)
    if as_json:
        console.data_json(found.to_json())
    else:
        console.data("\n".join(_lines(found, console.width())))


def _lines(found: HeadToHead, width: int | None) -> list[str]:
    from showdown.report.formats.text import wrapped

    better = "less" if found.smaller_is_better else "more"
    rows: list[tuple[str, ...]] = [
        ("problem", found.first, found.second, "difference", "95 % interval", "won/tied/lost", "better")
    ]
    units = {one.unit for one in found.problems}
    rows += [_row(one, len(units) > 1) for one in found.problems]
    grid = _grid(rows, width)
    unit = f", {found.problems[0].unit}" if len(units) == 1 else ""
    title = f"{found.title}{unit}: {found.first} minus {found.second}, paired over trials ({better} is better)"
    said = [wrapped(line, width) for line in (found.sentence, *found.warnings, *_scope(found))]
    return [wrapped(title, width), "", grid[0], "─" * max(map(len, grid)), *grid[1:], "", *said]


LEFT = (0, 6)  # columns of words
CAN_GO = ((), (5,), (5, 1, 2))  # columns that a narrow terminal does without; --json has them


def _grid(rows: list[tuple[str, ...]], width: int | None) -> list[str]:
    """The rows as aligned lines, with as many columns as the terminal has room for."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    kept: list[int] = []
    for gone in CAN_GO:
        kept = [column for column in range(len(widths)) if column not in gone]
        if width is None or sum(widths[column] + 2 for column in kept) - 2 <= width:
            break
    return [
        "  ".join(
            row[column].ljust(widths[column]) if column in LEFT else row[column].rjust(widths[column])
            for column in kept
        ).rstrip()
        for row in rows
    ]


def _scope(found: HeadToHead) -> list[str]:
    """Why the verdict of a table may differ."""
    if len(found.problems) == 1:
        return []
    return [
        "This is about these two alone. For a pair that was chosen because of its numbers, believe the verdict of "
        "`showdown table`, which corrects for the choice."
    ]


def _row(one: ProblemDifference, with_unit: bool) -> tuple[str, ...]:
    form = ".2f" if one.unit.startswith("%") else ".4g"  # per cent as in tables
    interval = "–" if one.low is None or one.high is None else f"{one.low:+{form}} to {one.high:+{form}}"
    return (
        f"{one.problem} ({one.unit})" if with_unit else one.problem,
        f"{one.first:{form}}",
        f"{one.second:{form}}",
        f"{one.difference:+{form}}",
        interval,
        f"{one.wins}/{one.ties}/{one.losses}",
        one.better or "cannot be told",
    )
