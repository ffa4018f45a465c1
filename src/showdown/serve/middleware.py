"""What every request passes before the application sees it: the token, the size and type of its body, and a clock.

A body is read here, whole, within its limits of size and time; a client without the token is answered before any of its
body is read.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import Any

from showdown.serve.answers import problem
from showdown.serve.limits import Limits
from showdown.serve.metrics import Requests
from showdown.serve.quick import ShortWay

OPEN = ("/health", "/docs", "/openapi.json")  # needs no token: says nothing that a client has sent


class RefusedError(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Gate:
    """An ASGI application around another one."""

    def __init__(
        self,
        app: Any,
        token: str,
        limits: Limits,
        requests: Requests,
        paths: frozenset[str],
        quick: Mapping[str, ShortWay],
    ) -> None:
        self._app, self._limits, self._requests, self._paths, self._quick = app, limits, requests, paths, quick
        self._token = _digest(token.encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def watched(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            try:
                body = await self._admit(scope, receive)
            except RefusedError as refused:
                await problem(refused.status, str(refused), close=True)(scope, receive, watched)
            else:
                await self._answer(scope, body, receive, watched)
        finally:
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._requests.count(path, status, time.perf_counter() - began)

    async def _answer(self, scope: Any, body: bytes, receive: Any, send: Any) -> None:
        quick = self._quick.get(scope["path"]) if scope["method"] == "POST" else None
        answer = await quick(body) if quick is not None else None
        asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope  # uvicorn leaves the body out
        await (answer or self._app)(asked, _replayed(body, receive), send)

    async def _admit(self, scope: Any, receive: Any) -> bytes:
        """The body of a request that may be answered."""
        headers = dict(scope["headers"])  # by lower-case name; of several with one name the last counts
        if scope["path"] not in OPEN and not self._is_known(headers.get(b"authorization", b"")):
            raise RefusedError(401, "this needs the header 'Authorization: Bearer TOKEN' with the server's token")
        if scope["method"] != "POST":
            return b""
        if headers.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
            raise RefusedError(415, "a body must be JSON, with the header 'Content-Type: application/json'")
        if headers.get(b"content-encoding", b"identity") != b"identity":
            raise RefusedError(415, "a body must not be compressed")
        return await self._read(headers, receive)

    async def _read(self, headers: dict[bytes, bytes], receive: Any) -> bytes:
        too_large = RefusedError(413, f"a body may have at most {self._limits.body_bytes} bytes")
        length = headers.get(b"content-length", b"0")
        if len(length) > 15 or not length.isdigit() or int(length) > self._limits.body_bytes:
            raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.read_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RefusedError(400, "the connection was closed before the whole body had come")
                    body += message.get("body", b"")
                    if len(body) > self._limits.body_bytes:
                        raise too_large
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            sentence = f"the body did not come within {self._limits.read_seconds:g} seconds"
            raise RefusedError(408, sentence) from None

    def _is_known(self, given: bytes) -> bool:
        scheme, _, token = given.partition(b" ")
        # digests of one length: the time of the comparison says nothing about the token, nor about its length
        return hmac.compare_digest(_digest(token.strip()), self._token) and scheme.lower() == b"bearer"


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _replayed(body: bytes, receive: Any) -> Any:
    """A `receive` that gives the body once, then waits for the client to leave."""
    given = False

    async def once() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once
