"""Locks between processes and users: the kernel locks a file for whoever has it open, so a dead process holds none.

The file says who holds it and since when, for whoever waits. Several users may share a folder of locks: anybody may
write to a lock's file, and one that belongs to somebody else and cannot be written to can still be locked.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from showdown.basics.errors import ShowdownError
from showdown.basics.files import take_lock
from showdown.basics.text import one_line

LOCK = ".lock-"  # what the name of a lock begins with; readers of a store ignore it
LONGEST_WAIT = 120.0  # seconds for a lock under which a file is written, which takes far less than one
_MOST_BYTES = 1000  # of what a lock's file says
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1  # seconds between two tries to get a lock


class Holder(NamedTuple):
    """Who has a lock, as the lock's file says."""

    user: str
    process: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"process {self.process} of {self.user} on {self.host}, since {self.since}"

    @property
    def is_stopped(self) -> bool:
        """Whether it is a process of this machine that was stopped (Ctrl-Z, SIGSTOP) and has not ended."""
        if self.host != socket.gethostname():
            return False
        try:
            status = Path(f"/proc/{self.process}/stat").read_text()
        except OSError:
            return False
        return status.rpartition(")")[2].split()[:1] == ["T"]

    @property
    def remedy(self) -> str:
        """How whoever waits for the lock can go on."""
        if self.is_stopped:
            number = self.process
            return f"that process is stopped: `kill -CONT {number}` lets it go on, `kill -9 {number}` ends it"
        return f"wait for it, or end it there (`kill {self.process}`): the lock ends with its process"


def holder(path: Path) -> Holder | None:
    """Who holds the lock `path`; None where its file does not say."""
    try:
        with path.open("rb") as stream:
            said = json.loads(stream.read(_MOST_BYTES))
        user, host, since = (one_line(str(said[name])) for name in ("user", "host", "since"))
        return Holder(user, int(said["process"]), host, since)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def held_by(path: Path) -> str:
    """A clause that says who holds the lock `path` and how to go on."""
    known = holder(path)
    if known is None:
        return f"held by a process that did not say its name; `fuser {path}` on its machine names it"
    return f"held by {known}; {known.remedy}"


@contextmanager
def locked(path: Path, wait: float = LONGEST_WAIT) -> Iterator[bool]:
    """Hold the lock that the file `path` stands for.

    With `wait` 0, yields False if another process holds it. Else raises ShowdownError after so many seconds.
    """
    handle = _acquire(path, wait)
    if handle is None:
        if wait:
            raise ShowdownError(f"{path} is still locked after {wait:g} seconds: it is {held_by(path)}")
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):  # another user's, in a folder where only owners delete: then it stays, unlocked
            path.unlink(missing_ok=True)  # before it is released: whoever waits finds out in `_acquire`
        os.close(handle)


def _acquire(path: Path, wait: float) -> int | None:
    """The open file of the lock, once it is ours; None if it is not ours after `wait` seconds."""
    until, pause = time.monotonic() + wait, _SHORTEST_PAUSE
    while True:
        handle = _opened(path)
        try:
            taken = take_lock(handle, wait=False)
            if taken and _is_still(path, handle):
                _sign(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if taken:
            continue  # its last owner deleted it just now
        if time.monotonic() >= until:
            return None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _opened(path: Path) -> int:
    """The lock's file, made if it is missing. A file that we may only read can be locked all the same."""
    plain = getattr(os, "O_NONBLOCK", 0)  # a pipe in its place is not waited for
    try:
        try:
            return _made(path, os.O_RDWR | os.O_CREAT | plain)
        except PermissionError:
            return os.open(path, os.O_RDONLY | plain)
    except OSError as error:
        advice = "; delete it" if os.path.isdir(path) or os.path.islink(path) else ""
        raise ShowdownError(f"cannot lock {path}: {error.strerror or error}{advice}") from None


def _made(path: Path, flags: int) -> int:
    new = not os.path.lexists(path)
    handle = os.open(path, flags, 0o666)
    if new and hasattr(os, "fchmod"):
        with suppress(OSError):  # made by another user at the same moment
            os.fchmod(handle, 0o666)  # whatever the umask: other users of this folder lock it too
    return handle


def _sign(handle: int) -> None:
    """Write who holds the lock into its file, where we may."""
    since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    with suppress(OSError, KeyError, ImportError):  # read-only, or a user without a name
        said = {"user": getpass.getuser(), "process": os.getpid(), "host": socket.gethostname(), "since": since}
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(said).encode(), 0)


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def remove_free_locks(folder: Path) -> None:
    """Delete the files of locks whose processes were killed; a lock that is held stays."""
    for path in folder.glob(f"{LOCK}*"):
        with suppress(ShowdownError), locked(path, wait=0):
            pass
