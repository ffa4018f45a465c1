"""How many cores and how much memory this process may use: the smallest of all the limits that bind it.

A container or a batch job is usually limited by cgroups, a shell by `ulimit`; both may allow far less than the machine
has free. What the page cache holds counts as free: the system gives it up when asked.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


def cgroup_folders(controller: str) -> Iterator[tuple[int, Path]]:
    """The version (1 or 2) and the folder of each group that limits this process, those above it included.

    `controller` is what they limit: memory or cpu. In a container the own folder may not be visible: then it is empty.
    """
    for line in system_text(PROC / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        group = Path(path.lstrip("/"))
        if controller in controllers.split(","):
            version, root = 1, CGROUPS / controller
        elif not controllers:
            version, root = 2, CGROUPS
        else:
            continue
        yield from ((version, root / each) for each in (group, *group.parents))


def system_text(path: Path) -> str:
    """What a file of the system holds; empty text where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def cores() -> int:
    """The number of cores this process may use, by its affinity and, in a container, its share of processor time."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([count, *map(math.ceil, _shares())]))


def _shares() -> list[float]:
    """The cores that each cgroup allows: microseconds of processor time, divided by the period."""
    found = []
    for version, folder in cgroup_folders("cpu"):
        if version == 2:
            written = system_text(folder / "cpu.max").split()
        else:
            written = [system_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        if len(written) == 2 and all(number.isdigit() for number in written):  # "max" and -1 are no limit
            quota, period = map(int, written)
            found += [quota / period] if period else []
    return found


# by version: names of the file with the limit, the one with what is used, and the reclaimable part in memory.stat
_NAMES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def host_free_bytes(sharers: int = 1) -> int | None:
    """The bytes this process may take if `sharers` equal processes share the machine; None where nothing says.

    Limits of a process are its own; only those of the machine and of cgroups are shared.
    """
    shared = [limit // sharers for limit in (machine_free(), cgroup_free()) if limit is not None]
    limits = [*shared, *(limit for limit in process_free() if limit is not None)]
    return max(0, min(limits)) if limits else None


def machine_free() -> int | None:
    """The bytes that the machine could give, as the kernel estimates it, or else all its memory."""
    available = re.search(r"^MemAvailable: +(\d+)", system_text(PROC / "meminfo"), re.MULTILINE)
    if available:
        return int(available[1]) * 1024
    try:  # not Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def cgroup_free() -> int | None:
    """The bytes that the cgroups of this process leave it, those above them included."""
    frees = []
    for version, folder in cgroup_folders("memory"):
        names = _NAMES[version]
        limit, used = (system_text(folder / name).strip() for name in names[:2])
        if limit.isdigit() and used.isdigit():  # "max" is no limit
            reclaimable = re.search(rf"^{names[2]} (\d+)", system_text(folder / "memory.stat"), re.MULTILINE)
            frees.append(int(limit) - int(used) + (int(reclaimable[1]) if reclaimable else 0))
    return min(frees, default=None)


def process_free() -> list[int | None]:
    """The bytes that `ulimit -v` and `ulimit -d` leave."""
    try:
        import resource
    except ImportError:  # not Unix
        return []
    status = system_text(PROC / "self/status")
    frees: list[int | None] = []
    for kind, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit = resource.getrlimit(kind)[0]
        kibibytes = re.search(rf"^{used}:\s+(\d+)", status, re.MULTILINE)
        if limit != resource.RLIM_INFINITY:
            frees.append(limit - (int(kibibytes[1]) * 1024 if kibibytes else 0))
    return frees
