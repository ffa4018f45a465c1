"""Locks between processes that share a store. The kernel holds them with the open file, so a dead process has none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from showdown.basics.files import take_lock

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
            if not take_lock(handle, wait=wait):
                os.close(handle)
                return None
            if _is_still(path, handle):
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
