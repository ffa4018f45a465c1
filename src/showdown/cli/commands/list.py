"""`showdown list policies|problems|suites`: what there is to play."""

from __future__ import annotations

import shutil
import sys
import textwrap
from itertools import groupby
from typing import Annotated, Any

import typer

from showdown.basics.errors import UsageError
from showdown.basics.text import near
from showdown.cli import console
from showdown.cli.inputs import Load, load_files

WHAT = ("policies", "problems", "suites")
NARROWEST, WIDEST = 60, 120  # letters of a line


def register(app: typer.Typer) -> None:
    app.command("list", epilog="Example: showdown list policies")(list_command)


def list_command(
    what: Annotated[str, typer.Argument(help=f"What to list: {', '.join(WHAT)}.")],
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the policies, problems or suites that can be named."""
    if what not in WHAT:
        raise UsageError(f"showdown list shows {', '.join(WHAT)}, not {what!r}{near(what, WHAT)}")
    load_files(load)
    from showdown.api.listing import rows_of, wrappers

    rows = rows_of(what)
    if as_json:
        console.data_json([{name: item for name, item in row.items() if name != "family"} for row in rows])
    else:
        console.data("\n".join(_lines([*rows, *wrappers(what)])))


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    """Names with their summaries, wrapped at words, under a heading for each family."""
    columns = shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else WIDEST
    indent = 2 if rows and rows[0].get("family") else 0
    width = max(len(row["name"]) for row in rows) + indent
    room = min(max(columns, NARROWEST), WIDEST) - width - 2
    lines: list[str] = []
    for family, members in groupby(rows, key=lambda row: row.get("family", "")):
        if family:
            lines += [*([""] if lines else []), family]
        for row in members:
            first, *more = textwrap.wrap(
                row["summary"], max(room, 20), break_long_words=False, break_on_hyphens=False
            ) or [""]
            lines.append(f"{' ' * indent + row['name']:<{width}}  {first}".rstrip())
            lines += [f"{'':<{width}}  {line}" for line in more]
    return lines
