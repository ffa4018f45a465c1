"""Files that are whole or absent, the lock of an open file, and the cache folder of this user.

A file is written under another name, forced to the disk, then renamed. A file that is renamed before its content has
reached the disk can be empty after a loss of power, so the content is forced there first. The rename is forced too, but
nobody waits for that: if it is lost, the old file is still whole. Locks between processes are in `locks.py`.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".writing-"  # what the name of an unfinished file begins with
STALE_SECONDS = 3600  # nothing takes longer to write: an unfinished file of this age has lost its writer


def write_atomically(path: Path, write: Callable[[str], Any]) -> None:
    """Let `write` fill a temporary file next to `path`, then rename it: a reader sees the old file or the new one."""
    _put_in_place({path: write})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Put files of one folder in place, in the order given, after all of them have reached the disk."""
    _put_in_place({path: partial(_fill, content) for path, content in files.items()})


def _fill(content: bytes, name: str) -> None:
    with open(name, "wb") as stream:
        stream.write(content)


def _put_in_place(files: Mapping[Path, Callable[[str], Any]]) -> None:
    temporaries: dict[Path, str] = {}
    try:
        for path, write in files.items():
            handle, temporaries[path] = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY, suffix=path.suffix)
            os.close(handle)
            write(temporaries[path])
            os.chmod(temporaries[path], 0o644)  # mkstemp makes files that only their owner can read
        _force_to_disk(temporaries.values())
        for path, temporary in temporaries.items():
            os.replace(temporary, path)
    except BaseException:
        for temporary in temporaries.values():
            Path(temporary).unlink(missing_ok=True)
        raise
    for folder in {str(path.parent) for path in files}:
        _threads(os.getpid()).submit(_fsync, folder)


def _force_to_disk(names: Iterable[str]) -> None:
    """Force files to the disk, in threads: a file system that is asked by several writes its journal once for all."""
    list(_threads(os.getpid()).map(_fsync, names))


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """The threads of this process: a fork has none of those of its parent."""
    return ThreadPoolExecutor(4, thread_name_prefix="fsync")


def _fsync(name: str) -> None:
    handle = os.open(name, os.O_RDONLY if os.path.isdir(name) else os.O_RDWR)  # some systems force only writers
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not every file system can
            raise
    finally:
        os.close(handle)


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The content of a plain file of limited size. A pipe would be waited for, a device may be endless."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is not a plain file")
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # in case it became a pipe just now
    with os.fdopen(handle, "rb") as stream:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        if about.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {most_bytes >> 20} MiB")
        return stream.read(about.st_size)


def sweep(folder: Path, seconds: float = STALE_SECONDS) -> int:
    """Delete what killed writers have left in `folder`, and return the number of files."""
    swept = 0
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(TEMPORARY) and _is_stale(path, seconds):
                with suppress(OSError):
                    path.unlink()
                    swept += 1
    return swept


def _is_stale(path: Path, seconds: float) -> bool:
    try:
        about = path.lstat()
    except OSError:
        return False
    ours = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    return ours and stat.S_ISREG(about.st_mode) and time.time() - about.st_mtime > seconds


def take_lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file until it is closed or its process ends; False if another has it and we do not wait.

    True as well where there are no locks (Windows, some file systems): as if each had the file to itself.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


CACHE_VARIABLE = "SHOWDOWN_CACHE"


def cache_folder() -> Path:
    """The folder for downloads, parsed tables and compiled programs; it may be deleted at any time."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    try:
        from platformdirs import user_cache_path
    except ImportError:  # data can still be read from a named folder, and tables kept in the usual folder of Linux
        return Path.home() / ".cache" / "showdown"
    return user_cache_path("showdown", appauthor=False)
