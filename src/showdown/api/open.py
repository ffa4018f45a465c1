"""`sd.open`: results that were played before."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from showdown.api.cells import Cells
from showdown.api.interchange import is_tidy_file, read_trials
from showdown.api.play import Say, opened_store
from showdown.api.results import Results
from showdown.basics.errors import ShowdownWarning, UsageError
from showdown.bench.remote import is_url


def open(results: str | os.PathLike[str] = "results") -> Results:
    """The results in a folder (that of `showdown run` or of `out=`), at a URL, or in a tidy .parquet or .csv file."""
    place = os.fspath(results)
    if not is_url(place) and is_tidy_file(Path(place)):
        return Results(read_trials(Path(place)))
    if is_url(place):
        return Results(cells_in(opened_store(place, _warn)[0].directory, _warn))
    return Results(cells_in(Path(place), _warn))


def cells_in(folder: Path, say: Say) -> Cells:
    """The cells in a folder; raises UsageError where none is finished, and says which files could not be read."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; `showdown run --out {folder}` makes one")
    cells = Cells.of_store(folder)
    store, records = cells.part()
    for sentence in store.warnings:
        say(sentence)
    if cells.frame.empty:
        failed = sum(not record.is_done for record in records)
        counted = f" ({failed} did not finish)" if failed else ""
        raise UsageError(f"{folder} holds no finished cell{counted}; `showdown run --out {folder}` makes some")
    return cells


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ShowdownWarning, stacklevel=4)
