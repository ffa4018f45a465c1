"""What every request passes before it is answered, and what answers look like.

A client without the token is answered before any of its body is read. A body is read whole, within its limits of size
and time. Every answer that is not a success is JSON with one sentence, `{"error": "…"}`, and no traceback.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any, NamedTuple

from showdown.agent import JournalError, UnknownDecisionError
from showdown.basics.errors import ShowdownError, UsageError
from showdown.basics.text import one_line
from showdown.serve.protocol import RequestLimits

LONGEST = 500  # characters of a sentence; it may quote what the client sent
JSON = b"application/json"


class BusyError(ShowdownError):
    """Too many requests wait already."""


class RefusedError(Exception):
    """A request that is not answered; the connection is closed, since its body may not have been read."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Reply(NamedTuple):
    status: int
    body: bytes
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, send: Any) -> None:
        length = str(len(self.body)).encode()
        headers = [(b"content-type", self.kind), (b"content-length", length), *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def mistake(status: int, sentence: str, *headers: tuple[bytes, bytes]) -> Reply:
    """The answer to a request that cannot be done."""
    if status == 401:
        headers += ((b"www-authenticate", b"Bearer"),)
    if status == 503:
        headers += ((b"retry-after", b"1"),)
    return Reply(status, json.dumps({"error": short(sentence)}).encode(), JSON, headers)


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

    def __init__(self, token: str, limits: RequestLimits, hosts: Iterable[str]) -> None:
        self._token, self._limits = _digest(token.encode()), limits
        self._hosts = {"localhost", *(host.lower() for host in hosts)}

    async def body(self, scope: Any, receive: Any, *, is_open: bool) -> bytes:
        """The body of a request that may be answered; raises RefusedError for others. Open paths need no token."""
        headers = dict(scope["headers"])  # by lower-case name; of several with one name the last counts
        if is_open:
            self._check_host(headers.get(b"host", b""))
        elif not self._is_known(headers.get(b"authorization", b"")):
            raise RefusedError(401, "this needs the header 'Authorization: Bearer TOKEN' with the server's token")
        if scope["method"] != "POST":
            return b""
        if headers.get(b"content-type", b"").split(b";")[0].strip().lower() != JSON:
            raise RefusedError(415, "a body must be JSON, with the header 'Content-Type: application/json'")
        if headers.get(b"content-encoding", b"identity") != b"identity":
            raise RefusedError(415, "a body must not be compressed")
        return await self._read(headers, receive)

    def _check_host(self, given: bytes) -> None:
        """Refuse names that are not the server's: a page in a browser could have let its own name point here."""
        host = given.decode("latin-1").lower()
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name not in self._hosts and not _is_address(name):
            raise RefusedError(421, "this server has another name: use its address, or start it with --allow-host NAME")

    def _is_known(self, given: bytes) -> bool:
        scheme, _, token = given.partition(b" ")
        # digests of one length: the time of the comparison says nothing about the token, nor about its length
        return hmac.compare_digest(_digest(token.strip()), self._token) and scheme.lower() == b"bearer"

    async def _read(self, headers: Mapping[bytes, bytes], receive: Any) -> bytes:
        most = self._limits.body_bytes
        length = headers.get(b"content-length", b"0")
        if len(length) > 15 or not length.isdigit() or int(length) > most:
            raise RefusedError(413, f"a body may have at most {most} bytes")
        body = b""
        try:
            async with asyncio.timeout(self._limits.read_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RefusedError(400, "the connection was closed before the whole body had come")
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise RefusedError(413, f"a body may have at most {most} bytes")
                    if not message.get("more_body"):
                        return body
        except TimeoutError:
            sentence = f"the body did not come within {self._limits.read_seconds:g} seconds"
            raise RefusedError(408, sentence) from None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
