"""`showdown verify`: check every record and table of a store against its checksum."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console


def register(app: typer.Typer) -> None:
    app.command("verify", epilog="Example: showdown verify results")(verify_command)


def verify_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where results are kept.")] = Path("results"),
    seal: Annotated[
        bool, typer.Option("--seal", help="Add the checksum that records of older versions do not have.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check a whole store; exit code 1 if anything is damaged.

    What is damaged is named.
    """
    from showdown.bench.store import Store
    from showdown.bench.verify import DAMAGED, FOREIGN, LEFTOVER, UNVERIFIED, VERIFIED, check_store

    if not directory.is_dir():
        raise UsageError(f"there is no folder {directory}; `showdown run --out {directory}` makes one")
    findings = list(check_store(Store(directory), seal=seal))
    counts = Counter(finding.state for finding in findings)
    if as_json:
        states = {state: counts[state] for state in (VERIFIED, UNVERIFIED, DAMAGED, FOREIGN, LEFTOVER)}
        console.data_json({**states, "findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            if finding.reason and finding.state != VERIFIED:
                console.data(f"{finding.state}: {finding.reason.removesuffix(' and was left out')}")
        sealed = sum(finding.state == VERIFIED and bool(finding.reason) for finding in findings)
        parts = [f"{counts[VERIFIED]} verified{f' ({sealed} of them sealed now)' if sealed else ''}"]
        parts += [f"{counts[state]} {state}" for state in (UNVERIFIED, DAMAGED) if counts[state] or state == DAMAGED]
        console.data(f"{directory}: {', '.join(parts)}")
        if counts[UNVERIFIED]:
            console.data(f"unverified cells have no checksum; `showdown verify --seal {directory}` adds it")
        if counts[DAMAGED]:
            console.data("the `showdown run` that made a damaged cell plays it again")
    if counts[DAMAGED]:
        raise typer.Exit(1)
