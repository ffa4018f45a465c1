"""How much memory there is, and how many trials fit side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import jax

SHARE = 0.5  # of what is free; the rest is for temporaries, compilation and other programs


def free_bytes() -> int | None:
    """Memory free on the default device, or None where nothing says."""
    stats = jax.local_devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def trials_that_fit(bytes_per_trial: Callable[[], int]) -> int:
    """The largest batch of trials that should fit; at least one, since only trying tells for certain."""
    free = free_bytes()
    if free is None:
        return 1 << 30
    return max(1, math.floor(SHARE * free / max(1, bytes_per_trial())))
