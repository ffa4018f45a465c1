"""Run the server until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from showdown.basics.errors import UsageError
from showdown.serve.limits import Limits
from showdown.serve.middleware import Gate
from showdown.serve.protocol import protocol_with

BACKLOG = 2048  # connections that may wait to be accepted
STOP_SECONDS = 5  # for answers that are on their way when the server is stopped


class Server(uvicorn.Server):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, however often it is said: uvicorn would skip the save at a second Ctrl-C."""
        self.should_exit = True


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """The socket, before anything else is done: an address in use is found at once, and early clients wait."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sets TCP_NODELAY only where the protocol is given; without it every answer waits 40 ms
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise _cannot(host, port, error) from None
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            raise _cannot(host, port, error) from None
        yield listener


def _cannot(host: str, port: int, error: Exception) -> UsageError:
    return UsageError(f"cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}")


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: Gate, listener: socket.socket, limits: Limits) -> None:
    config = uvicorn.Config(
        app,
        http=protocol_with(limits),
        ws="none",
        lifespan="on",
        loop="asyncio",
        access_log=False,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    Server(config).run(sockets=[listener])
