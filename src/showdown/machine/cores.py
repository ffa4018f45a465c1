"""How many processor cores there are for this process."""

from __future__ import annotations

import math
import os

from showdown.machine import cgroups


def cores() -> int:
    """Those that this process may use: by its affinity and, in a container, by its share of processor time."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([count, *map(math.ceil, _shares())]))


def _shares() -> list[float]:
    """What each cgroup allows, in cores: microseconds of processor time in a period of so many."""
    found = []
    for version, folder in cgroups.folders("cpu"):
        if version == 2:
            written = cgroups.text(folder / "cpu.max").split()
        else:
            written = [cgroups.text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        if len(written) == 2 and all(number.isdigit() for number in written):  # "max" and -1 are no limit
            quota, period = map(int, written)
            found += [quota / period] if period else []
    return found
