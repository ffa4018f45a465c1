"""The cgroups that limit this process: Linux limits a container or a batch job by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


def folders(controller: str) -> Iterator[tuple[int, Path]]:
    """The version (1 or 2) and the folder of each group that limits this process, those above it included.

    `controller` is what they limit: memory or cpu. In a container the own folder may not be visible: then it is empty.
    """
    for line in text(PROC / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        group = Path(path.lstrip("/"))
        if controller in controllers.split(","):
            version, root = 1, CGROUPS / controller
        elif not controllers:
            version, root = 2, CGROUPS
        else:
            continue
        yield from ((version, root / each) for each in (group, *group.parents))


def text(path: Path) -> str:
    """Of a file of the system; empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""
