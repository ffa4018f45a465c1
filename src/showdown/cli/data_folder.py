"""The option `--data-dir` of commands that play: a folder of raw data files, used before any download."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

DataFolder = Annotated[Path | None, typer.Option(help="A folder with raw data files, used before any other.")]


def use_data_folder(folder: Path | None) -> None:
    """For this process and those that it starts."""
    if folder is not None:
        os.environ["SHOWDOWN_DATA"] = str(folder)
