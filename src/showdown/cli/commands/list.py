"""`showdown list policies|problems|suites`: what there is to play."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from showdown.cli import console
from showdown.cli.load import LOAD, load_files
from showdown.report.summary import summary


class What(StrEnum):
    policies = "policies"
    problems = "problems"
    suites = "suites"


def register(app: typer.Typer) -> None:
    app.command("list")(list_command)


def list_command(
    what: Annotated[What, typer.Argument(help="What to list.")],
    load: Annotated[list[Path] | None, LOAD] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the policies, problems or suites that can be named."""
    load_files(load)
    rows = _suites() if what is What.suites else _presets(what)
    if as_json:
        console.data_json(rows)
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        console.data(f"{row['name']:<{width}}  {row['summary']}".rstrip())


def _presets(what: What) -> list[dict[str, Any]]:
    from showdown.config import core

    if what is What.policies:
        from showdown.policies import policies as registry
    else:
        from showdown.problems import problems as registry  # type: ignore[assignment]
    return [
        {
            "name": entry.name,
            "kind": type(core(entry.value)).__name__,
            "base": entry.base,
            "summary": summary(registry, entry),
        }
        for entry in registry
    ]


def _suites() -> list[dict[str, Any]]:
    from showdown.bench.suite import load_suite, suite_names

    rows = []
    for name in suite_names():
        suite = load_suite(name)
        size = f"{len(suite.policies)} policies × {len(suite.problems)} problems × {suite.trials} trials"
        rows.append({"name": name, "summary": f"{suite.title} ({size})"})
    return rows
