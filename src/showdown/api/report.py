"""Write results as one web page: what `results.report` and `showdown report` share."""

from __future__ import annotations

import shlex
from pathlib import Path

from showdown.basics.errors import UsageError
from showdown.bench.store import Store


def check_page(path: Path) -> None:
    """Raise UsageError where a page cannot be called that."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a page is written to a .html file, not to {path.name!r}")


def write_page(
    store: Store, path: Path, *, title: str = "", docs: str = "", load: tuple[Path, ...] = (), whole: bool = True
) -> tuple[Path, list[str]]:
    """Write the page of a store; returns its path, and sentences on what could not be read.

    Unless `whole`, it is about some cells, and not about the folder's tunings and its recommendation.
    """
    check_page(path)
    from showdown.report.page.collect import collect
    from showdown.report.page.render import render, write

    words = ["showdown", "report", str(store.directory), "--out", str(path)]
    words += ["--title", title] if title else []
    words += ["--docs", docs] if docs else []
    words += [word for file in load for word in ("--load", str(file))]
    page = collect(store.directory, command=shlex.join(words), title=title, docs=docs, store=store, whole=whole)
    write(render(page), path)
    return path, list(page["warnings"])
