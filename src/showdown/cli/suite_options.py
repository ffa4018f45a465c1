"""The options that say what is played: a suite, and what replaces parts of it. `run` and `plan` share them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.cli import console
from showdown.cli.data_folder import use_data_folder

if TYPE_CHECKING:
    from showdown.bench.plan import Planned
    from showdown.bench.store import Store
    from showdown.bench.suite import Suite
    from showdown.bench.sync import Mirror

SuiteName = Annotated[str, typer.Argument(help="A shipped suite or a .toml file; see `showdown list suites`.")]
Policies = Annotated[
    str | None, typer.Option("--policies", "--policy", help="Instead of the suite's: A,B[field=value],Lin*")
]
Problems = Annotated[
    str | None, typer.Option("--problems", "--problem", help="Instead of the suite's: X,Y[field=value],wheel-*")
]
Trials = Annotated[int | None, typer.Option(help="Independent trials of each cell.")]
Horizon = Annotated[int | None, typer.Option(help="Steps of a trial, instead of each problem's own.")]
Seed = Annotated[int | None, typer.Option(help="The seed; the same one gives the same numbers.")]
Out = Annotated[str, typer.Option(metavar="DIR", help="Where results are kept: a folder, or a URL as s3://bucket/x.")]


def chosen_suite(
    name: str, policies: str | None, problems: str | None, trials: int | None, horizon: int | None, seed: int | None
) -> Suite:
    """The suite with what was asked for instead of its own."""
    from showdown.bench.suite import changed, load_suite
    from showdown.config.registry import split_outside_brackets

    changes: dict[str, Any] = {"trials": trials, "horizon": horizon, "seed": seed}
    for field, names in (("policies", policies), ("problems", problems)):
        if names is not None:
            changes[field] = tuple(split_outside_brackets(names))
    return changed(load_suite(name), {field: item for field, item in changes.items() if item is not None})


def planned_cells(suite: Suite, store: Store, data_dir: Path | None) -> list[Planned]:
    """The plan of a suite, with a warning about each horizon that was shortened and each damaged cell."""
    from showdown.bench.plan import plan

    use_data_folder(data_dir)
    notes: list[str] = []
    planned = plan(suite, store, notes)
    for note in notes:
        console.warn(note)
    for item in planned:
        if item.cell.hash in store.damaged:
            console.warn(f"{item.cell.label}: the stored cell {item.cell.hash} is damaged, and is played again")
    return planned


def opened_store(out: str) -> tuple[Store, Mirror | None]:
    """The folder that results go to; for a URL its copy on this machine, and what keeps both equal."""
    from showdown.bench.remote import is_url
    from showdown.bench.sync import Mirror, local_store

    if is_url(out):
        mirror = Mirror.of(out)
        return mirror.store, mirror
    return local_store(out), None
