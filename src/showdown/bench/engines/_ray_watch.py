"""A process that ends what a Ray driver leaves behind when it is killed, and ends with it.

Ray's own processes end with their driver, but for agents that live on for minutes and, if they are unlucky, for ever.
This file is run by itself (`python -S _ray_watch.py`): it imports nothing of showdown, so that it starts in an instant.
Its standard input is a pipe from the driver, which closes when the driver ends, however that is. Linux only.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

LOOK_SECONDS = 1.0  # between two looks at the driver's processes
GRACE_SECONDS = 5.0  # for processes to end by themselves after the driver


def start() -> subprocess.Popen[bytes] | None:
    """Watch over this process; None where there is no /proc. The watcher ends when its standard input is closed."""
    if not Path("/proc/self/stat").exists():
        return None
    command = [sys.executable, "-S", "-E", __file__, str(os.getpid())]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def stop(watcher: subprocess.Popen[bytes] | None) -> None:
    if watcher is not None and watcher.stdin is not None:
        watcher.stdin.close()
        watcher.wait()


def watch(driver: int) -> None:
    """Remember the driver's descendants while it lives; when it has ended, end those that are left."""
    known: dict[int, str] = {}
    while not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
        known |= descendants(driver)
    until = time.monotonic() + GRACE_SECONDS
    while (left := _alive(known)) and time.monotonic() < until:
        time.sleep(0.1)
    for process in left:
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            continue


def descendants(driver: int) -> dict[int, str]:
    """The time at which each descendant of a process was started, by its number; the two together are never reused."""
    parents: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (about := _about(int(folder.name))) is not None:
            parents[int(folder.name)] = about
    found: dict[int, str] = {}
    for process, (_, started) in parents.items():
        above = process
        while above in parents and above != driver:
            above = parents[above][0]
        if above == driver and process not in (driver, os.getpid()):
            found[process] = started
    return found


def _about(process: int) -> tuple[int, str] | None:
    """The parent of a process, and when it was started; None if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else (int(fields[1]), fields[19])


def _alive(known: dict[int, str]) -> list[int]:
    return [process for process, started in known.items() if (_about(process) or (0, ""))[1] == started]


if __name__ == "__main__":
    watch(int(sys.argv[1]))
