"""What every request passes before its body is read, and what answers look like.

Every answer that is not a success is JSON with one sentence, `{"error": "…"}`, and no traceback.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple

from showdown.agent import JournalError, UnknownDecisionError
from showdown.basics.errors import ShowdownError, UsageError
from showdown.basics.text import one_line

LONGEST = 500  # characters of a sentence; it may quote what the client sent
JSON = b"application/json"
STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
CLOSE = (b"connection", b"close")


@dataclass(frozen=True)
class RequestLimits:
    """How much one client may ask of the server. Each limit is checked before the work it limits."""

    body_bytes: int = 1 << 20  # of one request
    head_bytes: int = 1 << 16  # of the headers of one request
    batch: int = 1000  # decisions or rewards in one request
    actions: int = 1000  # that there may be when one is added
    waiting: int = 256  # calls that wait for the agent
    connections: int = 500  # open at one time
    read_seconds: float = 10.0  # for the headers of a request, and again for its body
    write_seconds: float = 10.0  # for a client to take answers that it has asked for


class Head(NamedTuple):
    """A request without its body."""

    method: str
    path: str
    headers: Mapping[bytes, bytes]  # by lower-case name; of several with one name the last counts


class BusyError(ShowdownError):
    """Too many requests wait already."""


class Reply(NamedTuple):
    status: int
    body: bytes
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def written(self, *, with_body: bool = True) -> bytes:
        """The answer as it goes over the wire; one to HEAD has no body."""
        head = STATUS_LINES[self.status] + b"date: %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n" % (
            _date(int(time.time())),
            self.kind,
            len(self.body),
        )
        more = b"".join([b"%s: %s\r\n" % header for header in self.headers])
        return head + more + b"\r\n" + (self.body if with_body else b"")

    @property
    def closes(self) -> bool:
        """Whether the connection ends with this answer, since the request was not read to its end."""
        return CLOSE in self.headers


_dates: dict[int, bytes] = {}  # the one of this second


def _date(second: int) -> bytes:
    if second not in _dates:
        _dates.clear()
        _dates[second] = formatdate(second, usegmt=True).encode()
    return _dates[second]


def mistake(status: int, sentence: str, *headers: tuple[bytes, bytes]) -> Reply:
    """The answer to a request that cannot be done."""
    if status == 401:
        headers += ((b"www-authenticate", b"Bearer"),)
    if status == 503:
        headers += ((b"retry-after", b"1"),)
    return Reply(status, json.dumps({"error": short(sentence)}).encode(), JSON, headers)


def refusal(status: int, sentence: str) -> Reply:
    """The answer to a request that is not read to its end."""
    return mistake(status, sentence, CLOSE)


def short(sentence: str) -> str:
    text = one_line(sentence[: 2 * LONGEST])
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def status_of(error: ShowdownError) -> int:
    """The client's mistakes are 4xx; what only the operator can mend is 5xx."""
    if isinstance(error, UnknownDecisionError):
        return 404
    if isinstance(error, BusyError | JournalError):
        return 503
    return 422 if isinstance(error, UsageError) else 500


class Admission:
    """Decides which requests are read."""

    def __init__(self, token: str, hosts: Iterable[str]) -> None:
        self._token = _digest(token.encode())
        self._hosts = {"localhost", *(host.lower() for host in hosts)}

    def refuses(self, head: Head, *, is_open: bool) -> Reply | None:
        """Why a request is answered before any of its body is read; None where it is read. Open paths need no token."""
        headers = head.headers
        if is_open:
            if not self._is_own(headers.get(b"host", b"")):
                return refusal(421, "this server has another name: use its address, or start it with --allow-host NAME")
            if headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers:
                return refusal(413, "this path takes no body")  # anybody may ask here
        elif not self._is_known(headers.get(b"authorization", b"")):
            return refusal(401, "this needs the header 'Authorization: Bearer TOKEN' with the server's token")
        if head.method != "POST":
            return None
        kind = headers.get(b"content-type", b"")
        if kind != JSON and kind.split(b";")[0].strip().lower() != JSON:
            return refusal(415, "a body must be JSON, with the header 'Content-Type: application/json'")
        if headers.get(b"content-encoding", b"identity") != b"identity":
            return refusal(415, "a body must not be compressed")
        return None

    def _is_own(self, given: bytes) -> bool:
        """Whether a name is the server's: a page in a browser could have let its own name point here."""
        host = given.decode("latin-1").lower()
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        return name in self._hosts or _is_address(name)

    def _is_known(self, given: bytes) -> bool:
        scheme, _, token = given.partition(b" ")
        # digests of one length: the time of the comparison says nothing about the token, nor about its length
        return hmac.compare_digest(_digest(token.strip()), self._token) and scheme.lower() == b"bearer"


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
