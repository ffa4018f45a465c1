"""Whether a file holds what the catalogue says: the sha256 of its unpacked content.

A file found right is remembered by place, size and time of change, so it is read through once and not at every start.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from showdown.basics.errors import MissingDataError
from showdown.basics.files import cache_folder
from showdown.data.catalogue import DataFile, Dataset
from showdown.data.unpack import Unusable, chunks, unpacked


def check_content(path: Path, file: DataFile) -> None:
    """Read all of `path`; raise `Unusable` unless it holds `file`."""
    digest = hashlib.sha256()
    with unpacked(path, file) as stream:
        for chunk in chunks(stream, file):
            digest.update(chunk)
    check_digest(digest.hexdigest(), file)


def check_digest(digest: str, file: DataFile) -> None:
    if digest != file.sha256:
        raise Unusable(f"does not hold {file.name} (sha256 {digest[:12]}…, not {file.sha256[:12]}…)")


def is_known_good(path: Path, file: DataFile) -> bool:
    """Whether this very file was found right before; reads nothing of it."""
    return _stamp(path, file).exists()


def remember(path: Path, file: DataFile) -> None:
    try:
        stamp = _stamp(path, file)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    except OSError:
        pass  # a cache that cannot be written costs a second reading, no more


def check(path: Path, file: DataFile) -> None:
    """Raise `Unusable` unless `path` holds `file`; reads it only if it was not found right before."""
    if not is_known_good(path, file):
        check_content(path, file)
        remember(path, file)


def check_dataset(dataset: Dataset, paths: list[Path]) -> None:
    for path, file in zip(paths, dataset.files, strict=True):
        try:
            check(path, file)
        except (Unusable, OSError) as error:
            raise MissingDataError(
                f"{path} {clause(error)}; replace it, or take it away and run `showdown data fetch {dataset.name}`"
            ) from error


def clause(error: Exception) -> str:
    return f"cannot be read ({error.strerror or error})" if isinstance(error, OSError) else str(error)


def _stamp(path: Path, file: DataFile) -> Path:
    status = path.stat()
    facts = f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{file.sha256}"
    return cache_folder() / "verified" / hashlib.sha256(facts.encode()).hexdigest()
