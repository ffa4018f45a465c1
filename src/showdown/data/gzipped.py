"""A user's gzipped file as a stream that says in one sentence what is wrong with it, and that no bomb passes.

A table may unpack to many times its size, and text in memory takes several times its size on the disk. So the stream
counts while it is read, and stops where the file is no table any more, or would not fit into memory.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from showdown.basics.errors import TooLargeError, UsageError
from showdown.machine.resources import host_free_bytes

MOST_RATIO = 200  # times its own size that a file may unpack to; tables reach about 30
RATIO_FROM = 64 << 20  # bytes below which the ratio does not matter
BYTES_PER_BYTE = 5  # of memory that a byte of text takes while it is parsed, about


def check_unpacked(packed: int, unpacked: int) -> None:
    """Refuse a file of `packed` bytes that unpacks to so many, or more."""
    if unpacked > RATIO_FROM and unpacked > MOST_RATIO * packed:
        raise UsageError(
            f"it unpacks to more than {unpacked >> 20:,} MiB, over {MOST_RATIO} times its own size, as a bomb does; if "
            "that is right, unpack it first"
        )
    check_fits(unpacked)


def check_fits(size: int) -> None:
    """Refuse text, or arrays, of so many bytes where memory does not suffice to parse them."""
    free = host_free_bytes()
    if free is not None and size * BYTES_PER_BYTE > free:
        raise TooLargeError(
            f"it unpacks to more than {size >> 20:,} MiB, which takes about {size * BYTES_PER_BYTE / 2**30:.1f} GiB of "
            f"memory to read, and {free / 2**30:.1f} GiB are free; keep fewer rows or columns"
        )


class Gunzipped(io.RawIOBase):
    """The content of a gzip file."""

    def __init__(self, path: Path) -> None:
        self.packed, self.seen, self.checked = path.stat().st_size, 0, 0
        self.stream = gzip.open(path, "rb")  # noqa: SIM115 - closed by `close`

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self.stream.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            after = f"; {self.seen:,} bytes could be unpacked" if self.seen else ""
            raise UsageError(f"it is not a whole gzip file ({error}){after}") from error
        buffer[: len(piece)] = piece
        self.seen += len(piece)
        if self.seen - self.checked > 1 << 24:  # asking the system for its free memory takes a moment
            self.checked = self.seen
            check_unpacked(self.packed, self.seen)
        return len(piece)

    def close(self) -> None:
        self.stream.close()
        super().close()


def opened(path: Path, is_gzipped: bool) -> io.BufferedReader:
    """A file of text as bytes, unpacked if it is gzipped."""
    if is_gzipped:
        return io.BufferedReader(Gunzipped(path), 1 << 18)
    check_fits(path.stat().st_size)
    return path.open("rb")
