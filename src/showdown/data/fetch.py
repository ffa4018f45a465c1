"""Fetching a data set: mirrors in order, unpacked, checked, and only then renamed into place.

Everything is done in a temporary folder next to the file, so a failure leaves what was present before, and two
processes that fetch at once end with one good file. A download that was cut short is started afresh.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showdown.data import verify
from showdown.data.catalogue import DataFile, Dataset, dataset
from showdown.data.locate import FOLDER_VARIABLE, find, folders
from showdown.data.unpack import Unusable, chunks, unpacked
from showdown.errors import MissingDataError

TIMEOUT = 30.0  # seconds without an answer from the server
_WORK = ".fetch-"  # how temporary folders begin
_STALE = 24 * 3600  # seconds after which one is surely left over from a killed process

Progress = Callable[[str, int, int], None]  # address, bytes received, bytes expected (0: not known)


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
        get = _Getter(work, progress, timeout)
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
    failures = []
    for url in file.mirrors:
        try:
            content = _content(get(url), file, get.work / file.name)
        except Unusable as error:
            failures.append(f"{url} {error}")
            continue
        os.replace(content, target)
        verify.remember(target, file)
        return Fetched(target, url)
    raise MissingDataError(
        f"could not fetch {file.name} of the data set {entry.name!r}: {'; '.join(failures)}; "
        f"if you have it, point {FOLDER_VARIABLE} at a folder that holds {entry.name}/{file.name}"
    )


def _content(download: Path, file: DataFile, target: Path) -> Path:
    """Unpack a download to `target` and check it on the way."""
    digest = hashlib.sha256()
    with unpacked(download, file) as stream, target.open("wb") as out:
        for chunk in chunks(stream, file):
            digest.update(chunk)
            out.write(chunk)
    verify.check_digest(digest.hexdigest(), file)
    return target


class _Getter:
    """Downloads into the work folder; an archive that holds two files of a data set is downloaded once."""

    def __init__(self, work: Path, progress: Progress | None, timeout: float) -> None:
        self.work, self.progress, self.timeout = work, progress, timeout
        self.known: dict[str, Path | Unusable] = {}

    def __call__(self, url: str) -> Path:
        if url not in self.known:
            target = self.work / f"download-{len(self.known)}"
            try:
                self._download(url, target)
                self.known[url] = target
            except Unusable as error:
                self.known[url] = error
        outcome = self.known[url]
        if isinstance(outcome, Unusable):
            raise outcome
        return outcome

    def _download(self, url: str, target: Path) -> None:
        try:
            import pooch
            import requests
        except ImportError as error:
            raise MissingDataError("downloading needs pooch: pip install pooch") from error
        meter = _Meter(url, self.progress)
        downloader = pooch.HTTPDownloader(progressbar=meter, chunk_size=1 << 16, timeout=self.timeout)
        try:
            downloader(url, str(target), None)
        except requests.RequestException as error:
            if error.response is not None:
                error.response.close()  # pooch leaves it open
            raise Unusable(_reason(error, self.timeout)) from error


class _Meter:
    """What pooch takes for a progress bar."""

    def __init__(self, url: str, progress: Progress | None) -> None:
        self.url, self.progress = url, progress
        self.total, self.received = 0, 0

    def update(self, amount: int) -> None:
        self.received += amount
        if self.progress is not None:
            self.progress(self.url, min(self.received, self.total or self.received), self.total)

    def reset(self) -> None:
        self.received = 0

    def close(self) -> None:
        """Nothing to put away."""


def _reason(error: Any, timeout: float) -> str:
    """What went wrong on the way, as a clause that continues «ADDRESS …»."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"answered {error.response.status_code} {error.response.reason}".rstrip()
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return f"did not answer for {timeout:g} seconds"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "broke off before the end"
    if isinstance(error, requests.ConnectionError):
        return "could not be reached"
    return f"failed ({error})"


def _work_folder(folder: Path) -> Path:
    """A new temporary folder next to the files; those left by killed processes are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(_WORK + "*"):
        with suppress(OSError):  # its owner may be putting it away at this moment
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_WORK, dir=folder))
