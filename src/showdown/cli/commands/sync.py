"""`showdown sync`: copy finished cells from one store to another, either of which may be a URL."""

from __future__ import annotations

from typing import Annotated

import typer

from showdown.basics.errors import ShowdownError, UsageError
from showdown.cli import console


def register(app: typer.Typer) -> None:
    app.command("sync", epilog="Example: showdown sync results s3://bucket/results")(sync_command)


def sync_command(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A folder of results, or a URL such as s3://bucket/x.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A folder of results, or a URL.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Copy every finished cell that is missing there.

    Nothing is replaced. Exit code 1 if a cell could not be copied.
    """
    from showdown.bench.remote import Remote, copy_cells, opened
    from showdown.bench.store import Store

    from_store, to_store = opened(source), opened(target)
    if isinstance(from_store, Store) and not from_store.folder.is_dir():
        raise UsageError(f"there are no results in {source}")
    if isinstance(from_store, Remote) and not from_store.exists():
        raise ShowdownError(f"there are no results in {source}: no such bucket, or no cells in it")
    if isinstance(to_store, Store):
        to_store.prepare()
    copied = copy_cells(from_store, to_store)
    for cell, reason in copied.damaged.items():
        console.warn(f"left out: {cell}: {reason}")
    if as_json:
        console.data_json({"new": copied.new, "present": copied.present, "damaged": list(copied.damaged)})
    else:
        damaged = f", {len(copied.damaged)} damaged or out of reach and left out" if copied.damaged else ""
        console.data(f"{target}: {copied.new} new, {copied.present} already there{damaged}")
    if copied.damaged:
        raise typer.Exit(1)
