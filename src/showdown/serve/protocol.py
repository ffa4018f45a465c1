"""uvicorn's HTTP protocol with an end to its patience: a client must send a request, or it is disconnected.

uvicorn waits without limit for headers that do not end, so that a few hundred silent clients could use up all its file
descriptors. Here a connection that nothing is being answered on is closed after some seconds, and one beyond the
number allowed is answered at once.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from showdown.serve.limits import Limits


def _answer(status: str, sentence: str) -> bytes:
    """A whole answer, for connections that never reach the application."""
    body = json.dumps({"error": sentence}).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


FULL = _answer("503 Service Unavailable", "too many connections are open; try again later")
NOT_HTTP = _answer("400 Bad Request", "this is not an HTTP request that can be answered")


def protocol_with(limits: Limits) -> type[asyncio.Protocol]:
    class Impatient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                transport.write(FULL)
                transport.close()
                return
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def send_400_response(self, msg: str) -> None:
            self.transport.write(NOT_HTTP)
            self.transport.close()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forget()

        def _watch(self) -> None:
            """Start the clock where nothing is being answered, and stop it where something is."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self._deadline is None and not self.transport.is_closing():
                self._deadline = self.loop.call_later(limits.read_seconds, self.transport.close)

        def _forget(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Impatient
