"""HTTP/1.1 over one connection: httptools reads requests, and they are answered one after the other.

A general server (uvicorn) makes a task, an event and several messages of each request (docs/design/decisions.md says
what that takes). Here a request is a call and its answer another. Patience has an end: a connection that nothing is
being answered on is closed after some seconds, so is one whose answers are not taken, and one beyond the number allowed
is answered at once. What a client has sent ahead is answered before more is read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast
from urllib.parse import unquote

import httptools

from showdown.serve.http import Head, Reply, RequestLimits, refusal

FULL = refusal(503, "too many connections are open; try again later")
NOT_HTTP = refusal(400, "this is not an HTTP request that can be answered")
LONG_HEAD = refusal(431, "the headers of this request are too large")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LENGTH, EXPECT = b"content-length", b"expect"
NO_HEAD = Head("", "", {})  # of a request that was refused before it could be read


class Answering(Protocol):
    """What a connection needs of the application."""

    def refuses(self, head: Head) -> Reply | None: ...

    def refused(self, head: Head, reply: Reply) -> None:
        """Hear of every request that is not read to its end, whoever refused it."""

    def answer(self, head: Head, body: bytes, send: Callable[[Reply], None]) -> None:
        """Call `send` once, now or later, in the loop's thread."""


class _Asked(NamedTuple):
    head: Head
    body: bytes
    refused: Reply | None
    keep_alive: bool


class Connection(asyncio.Protocol):
    """`open_connections` holds all of a server; `sweep` must be called on each of them now and then."""

    def __init__(self, app: Answering, limits: RequestLimits, open_connections: set[Connection]) -> None:
        self._app, self._limits, self._all = app, limits, open_connections
        self._parser = httptools.HttpRequestParser(self)
        # so that requests after the last one of a connection, which are not answered, are not an error either
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._waiting: deque[_Asked] = deque()
        self._answering: _Asked | None = None
        self._head: Head | None = None  # of the request whose body is being read
        self._is_deaf = False  # whether anything more that comes is ignored
        self._head_bytes = 0  # received since the last request whose headers were whole
        self._is_ending = False  # whether the connection is closed after what is being answered
        self._is_going_on = False

    # Of the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._time = asyncio.get_running_loop().time
        self._idle_since: float | None = self._time()  # None while something is answered
        self._stuck_since: float | None = None  # since when the client takes nothing
        self._all.add(self)
        if len(self._all) > self._limits.connections:
            self._is_deaf = True
            self._app.refused(NO_HEAD, FULL)
            self._end_with(FULL.written())

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._is_deaf = True  # it has asked for another protocol, and is answered in this one
        except httptools.HttpParserError:
            self._refuse(NOT_HTTP)
        if self._head_bytes > self._limits.head_bytes:
            self._refuse(LONG_HEAD)

    def eof_received(self) -> bool:
        """Whether the connection stays open after the client has sent its last: for what is being answered."""
        self._is_ending = True
        return self._answering is not None

    def pause_writing(self) -> None:
        self._stuck_since = self._time()

    def resume_writing(self) -> None:
        self._stuck_since = None
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.discard(self)
        self._is_deaf = self._is_ending = True
        self._waiting.clear()

    # Of the parser

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._head_size = 0
        self._body: list[bytes] = []
        self._size = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value
        self._head_size += len(name) + len(value)

    def on_headers_complete(self) -> None:
        if self._is_deaf:
            return
        self._head_bytes = 0
        if self._head_size + len(self._url) > self._limits.head_bytes:  # it came in one piece
            self._refuse(LONG_HEAD)
            return
        try:
            path = unquote((httptools.parse_url(self._url).path or b"").decode("ascii"))
        except (httptools.HttpParserError, UnicodeError):
            self._refuse(NOT_HTTP)
            return
        self._head = Head(self._parser.get_method().decode("ascii"), path, self._headers)
        if self._answering is None:
            self._idle_since = self._time()  # from here on for the body
        refused = self._app.refuses(self._head) or self._too_large(self._headers.get(LENGTH, b"0"))
        if refused is not None:
            self._refuse(refused)
        elif self._headers.get(EXPECT, b"").lower() == b"100-continue" and self._answering is None:
            self._transport.write(CONTINUE)

    def _too_large(self, length: bytes) -> Reply | None:
        most = self._limits.body_bytes
        if len(length) <= 15 and length.isdigit() and int(length) <= most:
            return None
        return refusal(413, f"a body may have at most {most} bytes")

    def on_body(self, body: bytes) -> None:
        if self._is_deaf:
            return
        self._head_bytes = 0
        self._body.append(body)
        self._size += len(body)
        if self._size > self._limits.body_bytes:
            self._refuse(self._too_large(b"%d" % self._size) or NOT_HTTP)

    def on_message_complete(self) -> None:
        if self._is_deaf or self._head is None:
            return
        parser = self._parser
        keep_alive = parser.should_keep_alive() and not parser.should_upgrade() and parser.get_http_version() == "1.1"
        self._ask(_Asked(self._head, b"".join(self._body), None, keep_alive))

    # Answering

    def _refuse(self, reply: Reply) -> None:
        """Answer what is being read before it is whole, after all that came before, and read nothing more."""
        if not self._is_deaf:
            self._is_deaf = True
            head = self._head or NO_HEAD
            self._app.refused(head, reply)
            self._ask(_Asked(head, b"", reply, False))

    def _ask(self, asked: _Asked) -> None:
        self._head = None
        self._waiting.append(asked)
        self._go_on()
        if self._waiting:
            self._transport.pause_reading()

    def _go_on(self) -> None:
        """Answer what waits, one request at a time, for as long as the client takes the answers."""
        if self._is_going_on:  # what is answered at once would call this from within, thousands of times
            return
        self._is_going_on = True
        while self._waiting and self._answering is None and self._stuck_since is None and not self._is_ending:
            asked = self._answering = self._waiting.popleft()
            self._idle_since = None
            if asked.refused is not None:
                self._send(asked.refused)
            else:
                self._app.answer(asked.head, asked.body, self._send)
        self._is_going_on = False

    def _send(self, reply: Reply) -> None:
        asked, self._answering = self._answering, None
        if self._transport.is_closing() or asked is None:
            return
        content = reply.written(with_body=asked.head.method != "HEAD")
        if reply.closes or not asked.keep_alive or self._is_ending:
            self._end_with(content, lingers=asked.refused is not None)
            return
        self._transport.write(content)
        if self._waiting:
            self._go_on()
        else:
            self._idle_since = self._time()
            self._transport.resume_reading()

    def _end_with(self, content: bytes, *, lingers: bool = False) -> None:
        """Close after this; with `lingers` not before the client does, which may still send what was refused.

        Its system would be told of a reset otherwise, and most clients would fail at sending and never read the answer.
        """
        self._is_ending = True
        self._stuck_since = self._time()
        self._transport.write(content)
        if lingers:
            self._idle_since = self._time()  # patience has an end here too
            self._transport.write_eof()
            self._transport.resume_reading()
        else:
            self._transport.close()

    # Of the server

    def end(self) -> None:
        """Close once what is being answered has been."""
        self._is_ending = True
        if self._answering is None:
            self._transport.close()

    def sweep(self, now: float) -> None:
        """End a connection on which nothing has happened for too long."""
        if self._stuck_since is not None and now - self._stuck_since > self._limits.write_seconds:
            self._transport.abort()
        elif self._idle_since is not None and now - self._idle_since > self._limits.read_seconds:
            if self._head is not None and not self._is_deaf:
                self._refuse(refusal(408, f"the body did not come within {self._limits.read_seconds:g} seconds"))
            else:
                self._transport.abort()
