"""Locks between processes that share a store. The kernel holds them with the open file, so a dead process has none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: processes do not wait for each other, as if each had the store to itself
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock-"  # what the name of a lock begins with; readers of a store ignore it


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock that the file `path` stands for. Yields False if another process holds it and we do not wait."""
    handle = _acquire(path, wait)
    if handle is None:
        yield False
        return
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)  # before it is released: whoever waits finds out in `_acquire`
        os.close(handle)


def _acquire(path: Path, wait: bool) -> int | None:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_still(path, handle):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:  # a file system without locks
            return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its last owner deleted it while we waited


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def remove_free_locks(folder: Path) -> None:
    """Delete the files of locks whose processes were killed; a lock that is held stays."""
    for path in folder.glob(f"{LOCK}*"):
        with locked(path, wait=False):
            pass
