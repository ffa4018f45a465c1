"""Every program is compiled once in a process, by whichever thread asks for it first, and kept while it is in use.

A compiled program takes a few of the 65,530 memory areas that Linux lets a process have, and a process that has none
left dies. So only the programs that were asked for last are kept.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import jax
from jax.stages import Compiled, Lowered

from showdown.machine.resources import cores


@dataclass(frozen=True)
class Job:
    """A program to compile: all that it depends on, and how to trace it."""

    key: Hashable
    lower: Callable[[], Lowered]


MOST = 1000  # programs that are kept

_programs: dict[Hashable, Future[Compiled]] = {}  # finished, or being compiled; those asked for last are last
_seconds: dict[Hashable, float] = {}  # of programs that were compiled ahead, until their first use
_lock = threading.Lock()


def compiled_once(job: Job) -> tuple[Compiled, float]:
    """The program, and the seconds it took to compile; 0 if an earlier call was given them.

    Waits for a thread that is compiling it.
    """
    future = _compile(job)
    program = future.result()
    return program, _seconds.pop(job.key, 0.0)


def compiled_together(jobs: Sequence[Job]) -> tuple[list[Compiled], float]:
    """As `compiled_once` for each of them, on all cores; the seconds are those that passed, tracing included.

    They are traced in this thread, whose settings of JAX (`jax.default_matmul_precision`, …) other threads do not have.
    """
    began = time.perf_counter()
    new = [_traced(job) for job in jobs if not is_known(job)]
    if new:
        with ThreadPoolExecutor(min(len(new), cores()), "compile") as pool:
            list(pool.map(compiled_once, new))
    passed = time.perf_counter() - began if new else 0.0
    programs, ahead = zip(*map(compiled_once, jobs), strict=True)
    return list(programs), passed + sum(ahead)


def _traced(job: Job) -> Job:
    lowered = job.lower()
    return Job(job.key, lambda: lowered)


def compile_ahead(job: Job) -> None:
    """Begin to compile for a later `compiled_once`. Does not wait for another thread that is compiling the same."""
    _compile(job)


def is_known(job: Job) -> bool:
    """Whether it is compiled, or being compiled."""
    return job.key in _programs


def _compile(job: Job) -> Future[Compiled]:
    mine: Future[Compiled] = Future()
    with _lock:
        future = _programs[job.key] = _programs.pop(job.key, mine)
        for key in list(_programs)[:-MOST]:
            if _programs[key].done():
                del _programs[key]
    if future is not mine:
        return future
    began = time.perf_counter()
    try:
        program = job.lower().compile(_options())
    except BaseException as error:
        _programs.pop(job.key, None)  # the next one to ask tries again
        mine.set_exception(error)
        raise
    _seconds[job.key] = time.perf_counter() - began
    mine.set_result(program)
    return mine


def forget_all() -> None:
    """Free what no one plays any more."""
    with _lock:
        for key in [key for key, future in _programs.items() if future.done()]:
            del _programs[key]
    _seconds.clear()


def _options() -> dict[str, str | bool] | None:
    """On a GPU, XLA times several kernels for each product before it takes one, which is most of the time of compiling.

    Without that its own kernels get tiles of 16 × 8, and networks train at half the speed; the choice of cuBLAS takes
    no time and nearly keeps the speed (docs/performance.md). Whoever sets one of these flags decides about both.
    """
    chosen: dict[str, str | bool] = {"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False}
    if jax.default_backend() != "gpu" or any(flag in os.environ.get("XLA_FLAGS", "") for flag in chosen):
        return None
    return chosen
