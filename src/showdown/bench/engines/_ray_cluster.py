"""The Ray cluster that cells are played on, and what its workers do: play one cell and send its files to the driver.

The cluster is one that runs already, or one that this process starts for itself. A cluster that is started here listens
on 127.0.0.1 alone: whoever reaches the ports of a Ray cluster can run any program on it.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from showdown import __version__
from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench.cell import Cell
from showdown.bench.compilation import use_compilation_cache
from showdown.bench.engine import CellResult, Progress, RunLimits
from showdown.bench.engines import _ray_watch
from showdown.bench.plan import Planned
from showdown.bench.play_cell import play_cell
from showdown.bench.store import CellFiles, InMemory
from showdown.config.registry import load_file
from showdown.play import memory

_LOCAL_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # "0": nodes have the address 127.0.0.1; read when Ray is imported
SPARE_STORE_BYTES = 96 << 20  # of the object store, for results; Ray wants 75 MiB at least


class OtherVersionError(ShowdownError):
    """A worker has another version of showdown than the driver."""


class Slots(NamedTuple):
    """How many cells can be played at the same time."""

    cluster: int
    machine: int  # the one with most of them


@contextmanager
def connected(limits: RunLimits, data_bytes: int) -> Iterator[ModuleType]:
    """Yield the module `ray`, connected. An older connection stays open; a cluster that was started here ends."""
    _check_importable(starting=limits.address is None)
    import ray

    if ray.is_initialized():
        yield ray
        return
    handler = signal.getsignal(signal.SIGTERM)
    watcher = _ray_watch.start() if limits.address is None else None  # only over a cluster of our own
    try:
        if limits.address is None:
            _start(ray, limits, data_bytes)
        else:
            ray.init(address=limits.address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        _ray_watch.stop(watcher)
        raise ShowdownError(f"no Ray cluster answers at {limits.address or 'this machine'}: {error}") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray puts its own in its place
    try:
        yield ray
    finally:
        ray.shutdown()
        _ray_watch.stop(watcher)


def _check_importable(starting: bool) -> None:
    if starting and "ray" not in sys.modules:
        os.environ[_LOCAL_ONLY] = "0"
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs Ray: pip install 'bandit-showdown[ray]'") from None
    if starting and not ray.is_initialized() and os.environ.get(_LOCAL_ONLY) != "0":
        raise UsageError(
            f"Ray was imported before {_LOCAL_ONLY}=0 was set, so a cluster started now could be reached from the "
            "network: set it first, or connect to a cluster of yours with ray.init or --address"
        )


def _start(ray: ModuleType, limits: RunLimits, data_bytes: int) -> None:
    # workers inherit it: a process that takes three quarters of a GPU at its start leaves nothing for the next
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    with warnings.catch_warnings():
        # Ray forks in order to start other programs, which is safe; JAX warns of every fork
        warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
        ray.init(
            address="local",
            num_cpus=max(1, math.ceil(limits.processes * limits.cell_cpus)),
            include_dashboard=False,
            object_store_memory=SPARE_STORE_BYTES + 2 * data_bytes,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    address = ray.nodes()[0]["NodeManagerAddress"]
    if address not in ("127.0.0.1", "::1"):
        ray.shutdown()
        raise ShowdownError(f"the Ray cluster listened on {address} rather than on 127.0.0.1, and was ended")


def gpus_per_cell(ray: ModuleType, limits: RunLimits) -> float:
    if limits.cell_gpus is not None:
        return limits.cell_gpus
    return 1.0 if ray.cluster_resources().get("GPU", 0) else 0.0


def slots(ray: ModuleType, limits: RunLimits) -> Slots:
    asked = {"CPU": limits.cell_cpus, "GPU": gpus_per_cell(ray, limits)}
    asked = {name: amount for name, amount in asked.items() if amount > 0}
    if not asked:
        raise UsageError("a cell must ask the cluster for cores or GPUs: --cell-cpus and --cell-gpus are both 0")
    counts = [
        min(math.floor(node["Resources"].get(name, 0) / amount + 1e-9) for name, amount in asked.items())
        for node in ray.nodes()
        if node["Alive"]
    ]
    if not sum(counts):
        wanted = " and ".join(f"{amount:g} {name}" for name, amount in asked.items())
        raise UsageError(f"no machine of the Ray cluster has the {wanted} that a cell asks for")
    return Slots(sum(counts), max(counts))


REPORT_SECONDS = 0.2  # between two reports of one cell


@dataclass(frozen=True)
class CellJob:
    """What a worker needs to know of one cell, but for the problem's data, which travels by the object store."""

    version: str  # of the driver's showdown: another one could give other numbers
    sources: tuple[tuple[str, bytes], ...]  # names and contents of the user's files with policies and problems
    item: bytes  # the planned cell, pickled: it may hold classes of those files, which are loaded first
    limits: RunLimits
    sharers: int  # cells that one machine plays at the same time
    directory: Path  # the driver's store, for messages


def play(job: CellJob, tables: Any, board: Any) -> tuple[CellResult, CellFiles]:
    """Play one cell; return its result and its files. `tables` is the problem's data, or None: then it is read here."""
    if job.version != __version__:
        raise OtherVersionError(
            f"a worker has showdown {__version__}, and the driver {job.version}: install one version"
        )
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
    """Load the user's files under their own names, by which pickled classes name their modules."""
    for name, content in sources:
        if _loaded.get(name) != content:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name
                path.write_bytes(content)
                load_file(path)
            _loaded[name] = content


def _reports(board: Any, cell: Cell) -> Progress:
    """A function that writes progress to the board now and then, and never waits for it."""
    total, last = 0, 0.0

    def progress(_: Cell, steps: int) -> None:
        nonlocal total, last
        total += steps
        if steps == 0 or time.monotonic() - last > REPORT_SECONDS:
            last = time.monotonic()
            board.report.remote(cell.hash, total)

    return progress
