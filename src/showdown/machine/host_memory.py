"""How much memory this process may still take on the host: the smallest of all the limits that bind it.

A container or a batch job is usually limited by a cgroup, a shell by `ulimit`; both may allow far less than the machine
has free. What the page cache holds counts as free: the system gives it up when asked.
"""

from __future__ import annotations

import os
import re

from showdown.machine import cgroups
from showdown.machine.cgroups import text

# by version: names of the file with the limit, the one with what is used, and the reclaimable part in memory.stat
_NAMES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def host_free_bytes(sharers: int = 1) -> int | None:
    """What this process may take if `sharers` equal processes share the machine; None where nothing says.

    Limits of a process are its own; only those of the machine and of cgroups are shared.
    """
    shared = [limit // sharers for limit in (machine_free(), cgroup_free()) if limit is not None]
    limits = [*shared, *(limit for limit in process_free() if limit is not None)]
    return max(0, min(limits)) if limits else None


def machine_free() -> int | None:
    """What the machine could give, as the kernel estimates it, or else all its memory."""
    available = re.search(r"^MemAvailable: +(\d+)", text(cgroups.PROC / "meminfo"), re.MULTILINE)
    if available:
        return int(available[1]) * 1024
    try:  # not Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def cgroup_free() -> int | None:
    """What the cgroups that this process is in leave it, those above them included."""
    frees = []
    for version, folder in cgroups.folders("memory"):
        names = _NAMES[version]
        limit, used = (text(folder / name).strip() for name in names[:2])
        if limit.isdigit() and used.isdigit():  # "max" is no limit
            reclaimable = re.search(rf"^{names[2]} (\d+)", text(folder / "memory.stat"), re.MULTILINE)
            frees.append(int(limit) - int(used) + (int(reclaimable[1]) if reclaimable else 0))
    return min(frees, default=None)


def process_free() -> list[int | None]:
    """What `ulimit -v` and `ulimit -d` leave."""
    try:
        import resource
    except ImportError:  # not Unix
        return []
    status = text(cgroups.PROC / "self/status")
    frees: list[int | None] = []
    for kind, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit = resource.getrlimit(kind)[0]
        kibibytes = re.search(rf"^{used}:\s+(\d+)", status, re.MULTILINE)
        if limit != resource.RLIM_INFINITY:
            frees.append(limit - (int(kibibytes[1]) * 1024 if kibibytes else 0))
    return frees
