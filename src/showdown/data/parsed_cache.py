"""A cache of parsed tables, in NumPy's own format, by the checksum of the files they were parsed from.

A cached table replaces the file: it can be used where the file, or what is needed to unpack it, is missing. It begins
with the checksum of the rest, so that a damaged one is never used: it is parsed again.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path

import numpy as np

from showdown.basics.errors import MissingDataError
from showdown.basics.files import cache_folder, read_plain, sweep, write_together
from showdown.data import verify
from showdown.data.catalogue import Dataset, dataset, named_folder, require
from showdown.data.unpack import Unusable, unpacked

CHECKSUM_BYTES = 32
MOST_BYTES = 64 << 30  # the largest data set has 0.5 GB
Arrays = dict[str, np.ndarray]
Parse = Callable[..., Arrays]  # called with one stream of bytes per file of the data set


def parsed(name: str, parse: Parse, version: int = 1) -> Arrays:
    """The arrays `parse` makes of a data set's files. Raise `version` when a change of `parse` moves its numbers."""
    return _parsed(dataset(name), parse, version, named_folder(), cache_folder())


@lru_cache(maxsize=8)
def _parsed(dataset: Dataset, parse: Parse, version: int, data_dir: Path | None, cache: Path) -> Arrays:
    checksums = "|".join((*(file.sha256 for file in dataset.files), str(version)))
    kept = cache / "tables" / f"{dataset.name}-{hashlib.sha256(checksums.encode()).hexdigest()[:16]}.table"
    arrays = _read(kept)
    if arrays is None:
        arrays = _parse(dataset, parse, data_dir)
        _keep(kept, arrays)
    for array in arrays.values():
        array.setflags(write=False)  # shared by all who ask in this process
    return arrays


def _parse(dataset: Dataset, parse: Parse, data_dir: Path | None) -> Arrays:
    paths = require(dataset, data_dir)
    verify.check_dataset(dataset, paths)
    try:
        with ExitStack() as stack:
            streams = [
                stack.enter_context(unpacked(path, file)) for path, file in zip(paths, dataset.files, strict=True)
            ]
            return parse(*streams)
    except Unusable as error:
        raise MissingDataError(f"{dataset.name}: {error}") from error


def _read(path: Path) -> Arrays | None:
    """The cached arrays; None if the file is missing or damaged, and is to be made again."""
    try:
        content = memoryview(read_plain(path, MOST_BYTES))
    except OSError:
        return None
    checksum, content = content[:CHECKSUM_BYTES], content[CHECKSUM_BYTES:]
    if hashlib.sha256(content).digest() != checksum:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _keep(path: Path, arrays: Arrays) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        stream = io.BytesIO()
        np.savez(stream, **arrays)  # type: ignore[arg-type]
        content = stream.getbuffer()
        write_together({path: hashlib.sha256(content).digest() + content})
    except OSError:
        pass  # a cache that cannot be written costs a second parsing, no more
