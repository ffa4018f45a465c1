"""`sd.open`: results that were played before."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from showdown.api.cells import Cells
from showdown.api.interchange import is_tidy_file, read_trials
from showdown.api.play import opened_store
from showdown.api.results import Results
from showdown.basics.errors import ShowdownWarning, UsageError
from showdown.bench.remote import is_url


def open(results: str | os.PathLike[str] = "results") -> Results:
    """The results in a folder (that of `showdown run` or of `out=`), at a URL, or in a tidy .parquet or .csv file."""
    place = os.fspath(results)
    if not is_url(place) and is_tidy_file(Path(place)):
        return Results(read_trials(Path(place)))
    if not is_url(place) and not Path(place).is_dir():
        raise UsageError(f"there is no folder {place}; sd.run(…, out={place!r}) makes one")
    store, _ = opened_store(place, _warn)
    cells = Cells.of_store(store.directory)
    for sentence in cells.store.warnings if cells.store is not None else ():
        _warn(sentence)
    if cells.frame.empty:
        failed = sum(not record.is_done for record in cells.records)
        counted = f" ({failed} did not finish)" if failed else ""
        raise UsageError(f"{place} holds no finished cell{counted}; sd.run(…, out={place!r}) makes some")
    return Results(cells)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ShowdownWarning, stacklevel=3)
