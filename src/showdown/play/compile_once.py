"""Every program is compiled once in a process, by whichever thread asks for it first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass

from jax.stages import Compiled, Lowered


@dataclass(frozen=True)
class Job:
    """A program to compile: all that it depends on, and how to trace it."""

    key: Hashable
    lower: Callable[[], Lowered]


_programs: dict[Hashable, Future[Compiled]] = {}  # finished, or being compiled
_lock = threading.Lock()


def compiled_once(job: Job) -> tuple[Compiled, float]:
    """The program, and the seconds that this call spent on compiling it: 0 if another call did.

    Waits for a thread that is compiling it.
    """
    future, seconds = _found(job)
    return future.result(), seconds


def compile_unless_known(job: Job) -> float:
    """Like `compiled_once`, without waiting for another thread; returns the seconds."""
    return _found(job)[1]


def is_known(job: Job) -> bool:
    return job.key in _programs


def _found(job: Job) -> tuple[Future[Compiled], float]:
    with _lock:
        known = _programs.get(job.key)
        future = _programs.setdefault(job.key, Future())
    if known is not None:
        return known, 0.0
    began = time.perf_counter()
    try:
        future.set_result(job.lower().compile())
    except BaseException as error:
        del _programs[job.key]  # not known: the next one to ask tries again
        future.set_exception(error)
        raise
    return future, time.perf_counter() - began
