"""How much memory there is, and how many trials fit side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import jax

SHARE = 0.5  # of what is free, for what trials carry; the rest is for temporaries, compilation and other programs
MOST = 0.9  # of what is free, for a compiled program, whose temporaries are known

sharers = 1  # processes that share this machine, this one included; set by `bench/processes.py`


def free_bytes() -> int | None:
    """This process's share of the memory free on the default device, or None where nothing says."""
    stats = jax.local_devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] // sharers - stats.get("bytes_in_use", 0)
    try:  # not sysconf's free pages: most of what the system keeps in them it gives up when asked
        kibibytes = re.search(r"^MemAvailable: +(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
        return int(kibibytes[1]) * 1024 // sharers if kibibytes else None
    except OSError:
        return None


def trials_that_fit(bytes_per_trial: Callable[[], int]) -> int:
    """The largest batch of trials that should fit; at least one, since only trying tells for certain."""
    free = free_bytes()
    if free is None:
        return 1 << 30
    return max(1, math.floor(SHARE * free / max(1, bytes_per_trial())))


def excess(program: jax.stages.Compiled, here: int = 0) -> float:
    """By how much a compiled program needs more memory than there is: 2 is twice as much, at most 1 fits.

    `here` are bytes of its arguments that are on the device already, and so no longer free.
    """
    free, needs = free_bytes(), program.memory_analysis()
    if free is None or needs is None:
        return 0.0
    results = needs.output_size_in_bytes - needs.alias_size_in_bytes  # donated arguments become results in place
    return (needs.argument_size_in_bytes - here + needs.temp_size_in_bytes + results) / (MOST * max(1, free))
