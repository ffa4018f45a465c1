"""Short turns at Python's interpreter while a thread of an agent works.

Tracing a program is seconds of pure Python. A request that runs meanwhile needs the interpreter's lock several times,
and each time Python lets the other thread go on for 5 ms: calls of 0.4 ms took 100.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

TURN = 2e-4  # seconds

_lock = Lock()
_threads = 0  # that work in short turns now
_before = 0.0  # the turn of the process without them


@contextmanager
def short_turns() -> Iterator[None]:
    """For the whole process, until the last thread that asked for it is done."""
    global _threads, _before
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
