"""One process of the engine `processes`: as the first process sees it (`Worker`), and what it does (`_work`)."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench.cell import Cell
from showdown.bench.compilation_cache import use_compilation_cache
from showdown.bench.engine import Limits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.config.registry import load_file
from showdown.play import memory

READY = "ready"  # the first message of a process; after it come numbers of steps, and for each cell a result, or
CLAIMED = "claimed"  # that another run on the same store is playing it
GRACE_SECONDS = 2.0  # for a process to find out itself that its cell takes too long, which it does between segments


class Worker:
    def __init__(self, directory: Path, limits: Limits) -> None:
        context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
        self.connection, theirs = context.Pipe()
        arguments = (directory, replace(limits, progress=None), theirs)  # a function need not survive pickling
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        with _ignoring_interrupts():  # Ctrl-C reaches all processes; the first one decides
            self.process.start()
        theirs.close()  # so that the connection is closed when the process is gone
        self.ready = False
        self.playing: Planned | None = None
        self.began = math.inf  # its cell

    def is_ready(self) -> None:
        self.ready, self.began = True, time.monotonic()

    def end_of_cell(self, limits: Limits) -> float:
        """When it is killed; its start is not counted, nor waiting for another run that plays the same cell."""
        return math.inf if limits.cell_seconds is None else self.began + limits.cell_seconds + GRACE_SECONDS

    def plays(self, item: Planned, wait: bool = False) -> bool:
        """Give it a cell, to wait for if another run is playing it; False if the process died since the last one."""
        try:
            self.connection.send((item, wait))
        except OSError:
            return False
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            why = f"{item.cell.label} cannot be handed to another process ({error}): play it without --processes"
            raise UsageError(why) from None
        self.playing = item
        self.began = time.monotonic() if self.ready and not wait else math.inf
        return True

    def kill(self) -> None:
        self.process.kill()  # cells are written whole or not at all
        self.process.join()
        self.connection.close()

    def end(self) -> str:
        """How it ended, once its connection is closed."""
        self.process.join(5)  # the connection closes a little before the end
        self.kill()
        code = self.process.exitcode or 0
        return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"


def _work(directory: Path, limits: Limits, connection: Connection) -> None:
    """The life of the process."""
    memory.sharers = limits.processes
    for path in limits.load:
        load_file(path)

    def progress(cell: Cell, steps: int) -> None:
        try:
            connection.send(steps)
        except OSError:  # the first process is gone: what is played now would be played for nobody
            os._exit(1)

    use_compilation_cache()
    connection.send(READY)
    engine, limits = Local(Store(directory), concurrent=limits.processes - 1), replace(limits, progress=progress)
    with suppress(EOFError):  # until the connection is closed
        while True:
            item, wait = connection.recv()
            try:
                connection.send(engine.result(item, limits, wait) or CLAIMED)
            except ShowdownError as error:  # of the store, such as a full disk: nothing more can be played
                connection.send(error)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """A process started inside ignores Ctrl-C. Only the main thread may set that; in other threads it is not set."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
