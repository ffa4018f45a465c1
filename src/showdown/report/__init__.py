"""Draw what analysis returns; nothing here computes a result."""

from __future__ import annotations

from pathlib import Path

from showdown.basics.errors import UsageError
from showdown.basics.files import write_atomically


def write_file(path: Path, content: bytes) -> None:
    """Write `content`, making the folders that are missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda temporary: Path(temporary).write_bytes(content))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
