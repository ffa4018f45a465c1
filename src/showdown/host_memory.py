"""How much memory this process may still take on the host: the smallest of all the limits that bind it.

A container or a batch job is usually limited by a cgroup, a shell by `ulimit`; both may allow far less than the machine
has free. What the page cache holds counts as free: the system gives it up when asked.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

# hierarchy: names of the file with the limit, the one with what is used, and the reclaimable part in memory.stat
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")


def host_free_bytes(sharers: int = 1) -> int | None:
    """What this process may take if `sharers` equal processes share the machine; None where nothing says.

    Limits of a process are its own; only those of the machine and of cgroups are shared.
    """
    shared = [limit // sharers for limit in (machine_free(), cgroup_free()) if limit is not None]
    limits = [*shared, *(limit for limit in process_free() if limit is not None)]
    return max(0, min(limits)) if limits else None


def machine_free() -> int | None:
    """What the machine could give, as the kernel estimates it, or else all its memory."""
    available = re.search(r"^MemAvailable: +(\d+)", _text(PROC / "meminfo"), re.MULTILINE)
    if available:
        return int(available[1]) * 1024
    try:  # not Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def cgroup_free() -> int | None:
    """What the cgroups that this process is in leave it, those above them included."""
    found: list[int] = []
    for line in _text(PROC / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            found += _frees(CGROUPS / "memory", path, _VERSION_1)
        elif not controllers:
            found += _frees(CGROUPS, path, _VERSION_2)
    return min(found, default=None)


def _frees(root: Path, path: str, names: tuple[str, str, str]) -> list[int]:
    """What each group on the way from `path` up to the root leaves. In a container the path may not be visible."""
    group = Path(path.lstrip("/"))
    frees = []
    for folder in (root / group, *(root / parent for parent in group.parents)):
        limit, used = (_text(folder / name).strip() for name in names[:2])
        if limit.isdigit() and used.isdigit():  # "max" is no limit
            reclaimable = re.search(rf"^{names[2]} (\d+)", _text(folder / "memory.stat"), re.MULTILINE)
            frees.append(int(limit) - int(used) + (int(reclaimable[1]) if reclaimable else 0))
    return frees


def process_free() -> list[int | None]:
    """What `ulimit -v` and `ulimit -d` leave."""
    try:
        import resource
    except ImportError:  # not Unix
        return []
    status = _text(PROC / "self/status")
    frees: list[int | None] = []
    for kind, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit = resource.getrlimit(kind)[0]
        kibibytes = re.search(rf"^{used}:\s+(\d+)", status, re.MULTILINE)
        if limit != resource.RLIM_INFINITY:
            frees.append(limit - (int(kibibytes[1]) * 1024 if kibibytes else 0))
    return frees


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
