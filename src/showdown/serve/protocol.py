"""uvicorn's HTTP protocol with an end to its patience: clients must send a request, and read its answer, in time.

uvicorn waits without limit for headers that do not end and for clients that do not read, so that a few hundred of
either could use up its file descriptors or its memory. Here a connection that nothing is being answered on is closed
after some seconds, so is one whose answers are not taken, and one beyond the number allowed is answered at once.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


@dataclass(frozen=True)
class RequestLimits:
    """How much one client may ask of the server. Each limit is checked before the work it limits."""

    body_bytes: int = 1 << 20  # of one request
    head_bytes: int = 1 << 16  # of the headers of one request
    batch: int = 1000  # decisions or rewards in one request
    waiting: int = 256  # calls that wait for the agent
    connections: int = 500  # open at one time
    read_seconds: float = 10.0  # for the headers of a request, and again for its body
    write_seconds: float = 10.0  # for a client to take answers that it has asked for


def _answer(status: str, sentence: str) -> bytes:
    """A whole answer, for connections that never reach the application."""
    body = json.dumps({"error": sentence}).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


FULL = _answer("503 Service Unavailable", "too many connections are open; try again later")
NOT_HTTP = _answer("400 Bad Request", "this is not an HTTP request that can be answered")
LONG_HEAD = _answer("431 Request Header Fields Too Large", "the headers of this request are too large")


class JoinedWrites:
    """A transport that sends the head of an answer with its body: uvicorn writes them one after the other."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self._head = transport, b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._head and data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n") and data[9:12] != b"100":
            self._head = data
            return
        self._transport.write(self._head + data)
        self._head = b""

    def flush(self) -> None:
        """Send a head that no body follows."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        self.flush()
        self._transport.close()


class Impatient(HttpToolsProtocol):
    limits = RequestLimits()
    _reading: asyncio.TimerHandle | None = None  # ends a connection that sends nothing
    _writing: asyncio.TimerHandle | None = None  # ends a connection that takes nothing
    _head_bytes = 0  # received since the last request whose headers were whole

    def connection_made(self, transport: Any) -> None:
        super().connection_made(cast(Any, JoinedWrites(transport)))
        if len(self.connections) > self.limits.connections:
            self._end_with(FULL)
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > self.limits.head_bytes and not self.transport.is_closing():
            self._end_with(LONG_HEAD)
        self._watch()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._head_bytes = 0

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._head_bytes = 0

    def send_400_response(self, msg: str) -> None:
        self._end_with(NOT_HTTP)

    def on_response_complete(self) -> None:
        cast(JoinedWrites, self.transport).flush()
        super().on_response_complete()
        if self.pipeline:  # what was sent ahead is answered before more is read
            self.flow.pause_reading()
        if self.transport.is_closing():
            self._limit_writing()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._limit_writing()

    def _limit_writing(self) -> None:
        if self._writing is None:
            self._writing = self.loop.call_later(self.limits.write_seconds, self.transport.abort)

    def _end_with(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()
        self._limit_writing()

    def _give_up(self) -> None:
        """End the connection; `close` alone would wait for a client that does not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        self._give_up()

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._writing)
        self._writing = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _cancel(self._reading)
        _cancel(self._writing)

    def _watch(self) -> None:
        """Start the clock where nothing is being answered, and stop it where something is."""
        if self.cycle is not None and not self.cycle.response_complete:
            _cancel(self._reading)
            self._reading = None
        elif self._reading is None and not self.transport.is_closing():
            self._reading = self.loop.call_later(self.limits.read_seconds, self._give_up)


def protocol_with(limits: RequestLimits) -> type[asyncio.Protocol]:
    return type("Limited", (Impatient,), {"limits": limits})


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
