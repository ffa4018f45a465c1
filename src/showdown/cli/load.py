"""The option `--load FILE`: policies and problems from a user's own Python file."""

from __future__ import annotations

from pathlib import Path

import typer

LOAD = typer.Option(
    "--load", metavar="FILE", help="A Python file that registers policies or problems of its own; may be repeated."
)


def load_files(paths: list[Path] | None) -> None:
    if paths:
        from showdown.registry import load_file

        for path in paths:
            load_file(path)
