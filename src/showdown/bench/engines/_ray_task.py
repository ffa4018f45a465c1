"""What a worker of a Ray cluster does: play one cell and send its files to the driver, which stores them."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from showdown import __version__
from showdown.basics.errors import ShowdownError
from showdown.bench.cell import Cell
from showdown.bench.compilation_cache import use_compilation_cache
from showdown.bench.engine import Limits, Progress, Result
from showdown.bench.plan import Planned
from showdown.bench.play_cell import play_cell
from showdown.bench.store import CellFiles, InMemory
from showdown.config.registry import load_file
from showdown.play import memory

REPORT_SECONDS = 0.2  # between two reports of one cell


@dataclass(frozen=True)
class Job:
    """What a worker needs to know of one cell, but for the problem's data, which travels by the object store."""

    version: str  # of the driver's showdown: another one could give other numbers
    sources: tuple[tuple[str, bytes], ...]  # names and contents of the user's files with policies and problems
    item: bytes  # the planned cell, pickled: it may hold classes of those files, which are loaded first
    limits: Limits
    sharers: int  # cells that one machine plays at the same time
    directory: Path  # the driver's store, for messages


def play(job: Job, tables: Any, board: Any) -> tuple[Result, CellFiles]:
    """`tables` is the problem's data, or None: then it is read here."""
    if job.version != __version__:
        raise ShowdownError(f"a worker has showdown {__version__}, and the driver {job.version}: install one version")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others may share the GPU
    _load(job.sources)
    item: Planned = pickle.loads(job.item)
    memory.sharers = job.sharers
    use_compilation_cache()
    store = InMemory(job.directory)
    limits = replace(job.limits, progress=_reports(board, item.cell))
    result = play_cell(item, store, limits, concurrent=job.sharers - 1, tables=tables)
    return result, store.files[item.cell.hash]


_loaded: dict[str, bytes] = {}  # the user's files of this worker, which plays many cells


def _load(sources: tuple[tuple[str, bytes], ...]) -> None:
    """Files keep their names, which are those of the modules that pickled classes name."""
    for name, content in sources:
        if _loaded.get(name) != content:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name
                path.write_bytes(content)
                load_file(path)
            _loaded[name] = content


def _reports(board: Any, cell: Cell) -> Progress:
    """Write to the board now and then; nothing waits for it."""
    total, last = 0, 0.0

    def progress(_: Cell, steps: int) -> None:
        nonlocal total, last
        total += steps
        if steps == 0 or time.monotonic() - last > REPORT_SECONDS:
            last = time.monotonic()
            board.report.remote(cell.hash, total)

    return progress
