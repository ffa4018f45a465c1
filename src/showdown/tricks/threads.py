"""Threads: which programs may share a process, and how a service keeps answering while a refit runs.

`hangs_in_threads`: on a CPU, programs that call LAPACK for a batch of matrices must not run in several threads of a
process (`posteriors/cholesky.py` says why they hang, and is what policies should use).

`short_turns`: tracing a program is seconds of pure Python. A request that runs meanwhile needs the interpreter's lock
several times, and each time Python lets the other thread go on for 5 ms: calls of 0.4 ms took 100.

`compute_in_one_thread`: XLA computes in the thread that asked, as far as it can, so that requests seldom wait.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import jax

from showdown.tricks import plain

_FOR_A_BATCH = re.compile(r"custom-call\(.*operand_layout_constraints=\{\w+\[\d+,\d+,\d+")  # more than two dimensions
_known: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # cells share programs, and their text takes milliseconds

TURN = 2e-4  # seconds
_lock = Lock()
_threads = 0  # that work in short turns now
_before = 0.0  # the turn of the process without them

FLAG = "--xla_cpu_multi_thread_eigen"


def hangs_in_threads(program: Any) -> bool:
    """Whether a compiled program calls a library for a batch of matrices; yes for all, where no trick is wanted."""
    if plain():
        return True
    if program not in _known:
        _known[program] = _FOR_A_BATCH.search(program.as_text()) is not None
    return _known[program]


@contextmanager
def short_turns() -> Iterator[None]:
    """Shorten the turns of the whole process, until the last thread that asked for it is done."""
    global _threads, _before
    if plain():
        yield
        return
    with _lock:
        if not _threads:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(min(TURN, _before))
        _threads += 1
    try:
        yield
    finally:
        with _lock:
            _threads -= 1
            if not _threads:
                sys.setswitchinterval(_before)


def compute_in_one_thread() -> None:
    """Set XLA up for a service with `background=True`, before anything is computed: it reads its settings once.

    XLA would spread a matrix product of a refit over all cores, and begin every program in threads that all callers
    share. Independent parts of one program still go to such threads, as many as there are cores; no setting stops that.
    An XLA_FLAGS that sets the flag already is left as it is.
    """
    if plain():
        return
    flags = os.environ.get("XLA_FLAGS", "")
    if FLAG not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {FLAG}=false".strip()
    jax.config.update("jax_cpu_enable_async_dispatch", False)
