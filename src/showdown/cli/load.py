"""The option `--load FILE`: policies and problems from a user's own file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load",
        metavar="FILE",
        help="A Python file with policies or problems, or a TOML file of presets; may be repeated.",
    ),
]


def load_files(paths: list[Path] | None) -> None:
    if paths:
        from showdown import policies, problems  # noqa: F401  what presets in a file vary must be known first
        from showdown.config.registry import load_file

        for path in paths:
            load_file(path)
