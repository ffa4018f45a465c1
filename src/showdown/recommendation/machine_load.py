"""How busy this machine is: a forecast made for an idle one must be multiplied by this."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

PROBE_SECONDS = 0.2
_BLOCK = bytes(1 << 20)  # hashing a megabyte releases Python's lock


def crowding(threads: int) -> float:
    """How many times longer `threads` busy threads take here than if each had a core to itself; at least 1."""
    end = time.monotonic() + PROBE_SECONDS
    began, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: _hash_until(end), range(threads)))
    elapsed, used = time.perf_counter() - began, time.process_time() - used
    return max(1.0, elapsed * threads / max(used, 1e-9))


def _hash_until(end: float) -> None:
    while time.monotonic() < end:
        hashlib.sha256(_BLOCK).digest()
