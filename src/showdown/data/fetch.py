"""Fetching a data set: mirrors in order, unpacked, checked, and only then renamed into place.

Whatever is wrong with a mirror, the next one is tried; if all fail, the error says what each did. Everything is done
in a temporary folder next to the file, so a failure leaves what was present before, and two processes that fetch at
once end with one good file. A download that was cut short is started afresh.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from showdown.basics.errors import MissingDataError
from showdown.basics.text import one_line
from showdown.data import verify
from showdown.data.catalogue import FOLDER_VARIABLE, DataFile, Dataset, dataset, find, folders
from showdown.data.download import Bounds, Progress, download
from showdown.data.unpack import Unusable, chunks, most_bytes, unpacked

TIMEOUT = 30.0  # seconds without an answer from the server
SECONDS, SLOWEST = 120.0, 100_000  # a download may take so many seconds, and one for so many bytes that it may have
PAUSES = (0.0, 2.0, 8.0)  # seconds before the mirrors are asked, and asked again
_WORK = ".fetch-"  # how temporary folders begin
_STALE = 24 * 3600  # seconds after which one is surely left over from a killed process


@dataclass(frozen=True)
class Fetched:
    path: Path
    url: str | None  # where it came from; None if it was already present and right


def fetch(
    name: str, *, data_dir: Path | None = None, progress: Progress | None = None, timeout: float = TIMEOUT
) -> list[Fetched]:
    """Make sure that every file of a data set is on this machine, and right."""
    entry = dataset(name)
    found = [find(entry, file, data_dir) for file in entry.files]
    present = [path is not None and _is_right(path, file) for path, file in zip(found, entry.files, strict=True)]
    outcome = [Fetched(path, None) for path, right in zip(found, present, strict=True) if path is not None and right]
    if all(present):
        return outcome
    folder = folders(data_dir)[0] / entry.name
    work = None
    try:
        work = _work_folder(folder)
        get = _Getter(work, entry.size, timeout, progress)
        for file, right in zip(entry.files, present, strict=True):
            if not right:
                outcome.append(_fetch_file(entry, file, folder / file.name, get))
    except OSError as error:
        raise MissingDataError(
            f"cannot write to {folder} ({error.strerror or error}); name another folder with --data-dir"
        ) from error
    finally:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
    return outcome


def _is_right(path: Path, file: DataFile) -> bool:
    try:
        verify.check(path, file)
    except (Unusable, OSError):
        return False
    return True


def _fetch_file(entry: Dataset, file: DataFile, target: Path, get: _Getter) -> Fetched:
    """Fetch a file from the first mirror that has it. If all fail, those that may recover are asked again later."""
    failures: dict[str, Unusable] = {}
    for pause in PAUSES:
        time.sleep(pause)
        for url in file.mirrors:
            if url in failures and not failures[url].passing:
                continue
            try:
                content = _content(get(url), file, get.work / file.name)
            except Unusable as error:
                failures[url] = error
                continue
            os.replace(content, target)
            verify.remember(target, file)
            return Fetched(target, url)
        if not any(error.passing for error in failures.values()):
            break
    reasons = "; ".join(one_line(f"{url} {error}") for url, error in failures.items())
    raise MissingDataError(
        f"could not fetch {file.name} of the data set {entry.name!r}: {reasons}; "
        f"if you have it, point {FOLDER_VARIABLE} at a folder that holds {entry.name}/{file.name}"
    )


def _content(packed: Path, file: DataFile, target: Path) -> Path:
    """Unpack a download to `target` and check it on the way."""
    digest = hashlib.sha256()
    with unpacked(packed, file) as stream, target.open("wb") as out:
        for chunk in chunks(stream, file):
            digest.update(chunk)
            out.write(chunk)
    verify.check_digest(digest.hexdigest(), file)
    return target


class _Getter:
    """Downloads into the work folder; an archive that holds two files of a data set is downloaded once."""

    def __init__(self, work: Path, size: int, silence: float, progress: Progress | None) -> None:
        self.work, self.progress = work, progress
        most = most_bytes(size)
        self.bounds = Bounds(most, silence, SECONDS + most / SLOWEST)
        self.known: dict[str, Path | Unusable] = {}

    def __call__(self, url: str) -> Path:
        if url not in self.known:
            target = self.work / f"download-{len(self.known)}"
            try:
                download(url, target, self.bounds, self.progress)
                self.known[url] = target
            except Unusable as error:
                if error.passing:
                    raise
                self.known[url] = error
        outcome = self.known[url]
        if isinstance(outcome, Unusable):
            raise outcome
        return outcome


def _work_folder(folder: Path) -> Path:
    """A new temporary folder next to the files; those left by killed processes are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(_WORK + "*"):
        with suppress(OSError):  # its owner may be putting it away at this moment
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_WORK, dir=folder))
