"""One address to one file, within bounds: so many bytes, so many seconds in all, so many without an answer.

A thread receives and this one writes, because a server that sends a byte now and then keeps a reading socket waiting
for ever. When time is up the thread is left behind; it ends with its connection or with the process.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showdown.basics.errors import MissingDataError
from showdown.data.unpack import Unusable

CHUNK = 1 << 16
REDIRECTS = 5
FAILS_FOR_A_WHILE = (408, 425, 429)  # and everything from 500 up

Progress = Callable[[str, int, int], None]  # address, bytes received, bytes expected (0: not known)


class Unreachable(Unusable):
    """A failure of the connection or of the server, which may be over when it is tried again."""

    passing = True


@dataclass(frozen=True)
class Bounds:
    size: int  # bytes
    silence: float  # seconds without an answer from the server
    seconds: float  # in all


def download(url: str, target: Path, bounds: Bounds, progress: Progress | None = None) -> None:
    """Write what `url` answers to `target`, as it comes; whatever goes wrong with the server is `Unusable`."""
    try:
        import requests  # noqa: F401  (the thread needs it)
    except ImportError as error:
        raise MissingDataError("downloading needs requests: pip install requests") from error
    incoming: queue.Queue[Any] = queue.Queue(maxsize=16)
    given_up = threading.Event()
    threading.Thread(target=_receive, args=(url, bounds, incoming, given_up), daemon=True).start()
    try:
        with target.open("wb") as out:
            received = 0
            for piece, expected in _until(incoming, bounds.seconds):
                received += len(piece)
                if max(received, expected) > bounds.size:
                    raise Unusable(f"sends more than the {bounds.size:,} bytes that it could need")
                out.write(piece)
                if progress is not None:
                    progress(url, min(received, expected or received), expected)
    finally:
        given_up.set()


def _until(incoming: queue.Queue[Any], seconds: float) -> Iterator[tuple[bytes, int]]:
    """What the thread sends, until it is done, fails, or time is up."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        try:
            item = incoming.get(timeout=left)
        except queue.Empty:
            break
        if item is None:
            return
        if isinstance(item, Exception):
            raise item
        yield item
    raise Unusable(f"took longer than {seconds:g} seconds in all")


def _receive(url: str, bounds: Bounds, incoming: queue.Queue[Any], given_up: threading.Event) -> None:
    def give(item: Any) -> None:
        while not given_up.is_set():
            with suppress(queue.Full):
                incoming.put(item, timeout=0.1)
                return

    try:
        for piece in _pieces(url, bounds):
            give(piece)
            if given_up.is_set():
                return
        give(None)
    except Exception as error:  # anything: it is raised where the download was asked for
        give(_as_unusable(error, bounds.silence))


def _pieces(url: str, bounds: Bounds) -> Iterator[tuple[bytes, int]]:
    """What the server sends, as it is: what it says it packed on the way is left to `unpack` and its limits."""
    import requests

    with requests.Session() as session:
        session.max_redirects = REDIRECTS
        headers = {"Accept-Encoding": "identity"}
        with session.get(url, stream=True, timeout=bounds.silence, headers=headers) as response:
            status = response.status_code
            if status != 200:
                kind = Unreachable if status in FAILS_FOR_A_WHILE or status >= 500 else Unusable
                raise kind(f"answered {status} {response.reason or ''}".rstrip())
            length = response.headers.get("Content-Length", "")
            expected = int(length) if length.isdecimal() and len(length) < 19 else 0
            yield b"", expected
            received = 0
            try:
                for piece in response.raw.stream(CHUNK, decode_content=False):
                    received += len(piece)
                    yield piece, expected
            except Exception as error:  # of urllib3, whatever it is
                raise _as_unusable(error, bounds.silence, Unreachable("broke off before the end")) from error
            if received < expected:
                raise Unreachable("broke off before the end")


def _as_unusable(error: Exception, silence: float, otherwise: Unusable | None = None) -> Unusable:
    """What went wrong on the way, as a clause that continues «ADDRESS …»."""
    import requests

    if isinstance(error, Unusable):
        return error
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return Unreachable(f"did not answer for {silence:g} seconds")
    if isinstance(error, requests.TooManyRedirects):
        return Unusable(f"redirects more than {REDIRECTS} times")
    if isinstance(error, requests.ConnectionError):
        return Unreachable("could not be reached")
    return otherwise or Unusable(f"failed ({str(error) or type(error).__name__})")
