"""`showdown data list|fetch|verify|path`: the files that real problems are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer
import typer.core

from showdown.cli import console

if TYPE_CHECKING:
    from showdown.data.catalogue import Dataset

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="A folder with data files, used before the cache. Default: $SHOWDOWN_DATA."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class _Command(typer.core.TyperCommand):
    """A command whose help shows a repeated argument by the dots after its name, not by Python's name for its type."""

    def get_help(self, ctx: Any) -> str:
        return str(super().get_help(ctx)).replace(" <list[str]>", "")


def register(app: typer.Typer) -> None:
    data = typer.Typer(name="data", no_args_is_help=True, rich_markup_mode=None)
    for name, command in (
        ("list", list_command),
        ("fetch", fetch_command),
        ("verify", verify_command),
        ("path", path_command),
    ):
        data.command(name, cls=_Command)(command)
    app.add_typer(data, help="List, fetch and verify the data of real problems.")


def list_command(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the data sets: what they are, their terms and size, where they are stored, whether they were verified."""
    from showdown.data.catalogue import CATALOGUE

    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "title": entry.title,
            "terms": entry.terms,
            "bytes": entry.size,
            "files": _files(entry, data_dir),
        }
        for entry in CATALOGUE.values()
    ]
    if as_json:
        console.data_json(rows)
        return
    for row in rows:
        console.data(f"{row['name']:<10} {_size(row['bytes']):>7}  {row['title']}")
        console.data(f"{'':20}terms: {row['terms']}")
        for file in row["files"]:
            console.data(f"{'':20}{file['status']}: {file['path'] or file['file']}")


def fetch_command(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Data sets, or `all`; see `showdown data list`.")],
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="The folder to fetch into. Default: $SHOWDOWN_DATA, or the cache.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer from a server.")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Fetch data sets that are not here yet, and verify those that are."""
    from showdown.basics.errors import MissingDataError
    from showdown.data.fetch import fetch

    rows: list[dict[str, Any]] = []
    for entry in _chosen(names):
        try:
            with console.progress(100, f"{entry.name}: connecting") as advance:
                fetched = fetch(entry.name, data_dir=data_dir, timeout=timeout, progress=_percent(entry.name, advance))
        except MissingDataError as error:
            console.warn(f"showdown: {error}")
            rows.append({"name": entry.name, "status": "failed", "path": None, "url": None, "error": str(error)})
            continue
        for item in fetched:
            status = "fetched" if item.url else "already present, verified"
            rows.append({"name": entry.name, "status": status, "path": str(item.path), "url": item.url, "error": None})
    _print(rows, as_json)


def verify_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Data sets; default: those that are here.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Read data files and compare them with their checksums."""
    from showdown.data import verify
    from showdown.data.catalogue import find
    from showdown.data.unpack import Unusable

    rows: list[dict[str, Any]] = []
    for entry in _chosen(names or ["all"]):
        for file in entry.files:
            path = find(entry, file, data_dir)
            row: dict[str, Any] = {"name": entry.name, "status": "verified", "path": str(path), "error": None}
            if path is None:
                if not names:
                    continue
                row |= {"status": "failed", "path": None, "error": f"{file.name} is not here"}
            else:
                try:
                    verify.check_content(path, file)
                    verify.remember(path, file)
                except (Unusable, OSError) as error:
                    row |= {"status": "failed", "error": f"{path} {verify.clause(error)}"}
            if row["error"]:
                console.warn(f"showdown: {entry.name}: {row['error']}")
            rows.append(row)
    if not rows:
        console.warn("showdown: no data set is here yet; see `showdown data list`")
    _print(rows, as_json)


def path_command(
    name: Annotated[str | None, typer.Argument(help="A data set; default: the folder downloads go to.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print where a data set's files are, or where downloads go."""
    from showdown.data.catalogue import dataset, folders, require

    paths = folders(data_dir)[:1] if name is None else require(dataset(name), data_dir)
    if as_json:
        console.data_json([str(path) for path in paths])
        return
    for path in paths:
        console.data(str(path))


def _chosen(names: list[str]) -> list[Dataset]:
    from showdown.data.catalogue import CATALOGUE, dataset

    if "all" in names:
        return list(CATALOGUE.values())
    return [dataset(name) for name in dict.fromkeys(names)]


def _files(entry: Dataset, data_dir: Path | None) -> list[dict[str, Any]]:
    from showdown.data.catalogue import find
    from showdown.data.verify import is_known_good

    rows = []
    for file in entry.files:
        path = find(entry, file, data_dir)
        status = "not here" if path is None else "verified" if is_known_good(path, file) else "not verified"
        rows.append({"file": file.name, "status": status, "path": str(path) if path else None})
    return rows


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print what became of each file; a failure was already printed to stderr, and makes the exit code 1."""
    if as_json:
        console.data_json(rows)
    else:
        for row in rows:
            if row["path"] and not row["error"]:
                console.data(f"{row['name']:<10} {row['status']}: {row['path']}")
    if any(row["error"] for row in rows):
        raise typer.Exit(1)


def _percent(name: str, advance: Callable[[int, str | None], None]) -> Callable[[str, int, int], None]:
    """A function that turns received bytes into a bar of a hundred; another mirror starts it again."""
    shown = 0

    def progress(url: str, received: int, expected: int) -> None:
        nonlocal shown
        percent = 100 * received // expected if expected else 0
        advance(percent - shown, f"{name} from {urlsplit(url).hostname}")
        shown = percent

    return progress


def _size(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 1e7 else f"{size / 1e6:.1f} MB"
