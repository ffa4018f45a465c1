"""`showdown report`: everything a store says as one web page that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console
from showdown.cli.inputs import Load, load_files


def register(app: typer.Typer) -> None:
    app.command("report", epilog="Example: showdown report results --open")(report_command)


def report_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where results are kept.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The .html file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The page's heading.", show_default="the name of DIR")] = None,
    docs: Annotated[str | None, typer.Option(help="Address of the documentation, for links.", metavar="URL")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    load: Load = None,
) -> None:
    """Write one self-contained web page of the results.

    Its path is printed. A folder that holds tunings only is shown too.
    """
    from showdown.api.report import check_page, write_page
    from showdown.bench.store import Store

    check_page(out)
    if not directory.is_dir():
        raise UsageError(f"there is no folder {directory}; `showdown run --out {directory}` makes one")
    load_files(load)
    _, warnings = write_page(Store(directory), out, title=title or "", docs=docs or "", load=tuple(load or ()))
    for warning in warnings:
        console.warn(warning)
    console.data(str(out))
    if open_page:
        import webbrowser

        if not webbrowser.open(out.resolve().as_uri()):
            console.warn(f"no browser could be started; open {out} yourself")
