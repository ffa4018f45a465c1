"""A server on this machine that answers as badly as it is asked to, and a data set whose mirrors it is."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from showdown.data import fetch as fetching
from showdown.data.catalogue import CATALOGUE, DataFile, Dataset

CONTENT = b"".join(b"%d,%d\n" % (row, row * row) for row in range(3000))
Answer = bytes | Callable[[Any], None]  # a body, or what to do with the connection


class Server:
    def __init__(self) -> None:
        self.bad: Answer = b""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = CONTENT if self.path == "/good" else outer.bad
                if not isinstance(answer, bytes):
                    return answer(self)
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                return None

            def log_message(self, *arguments: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *arguments: None  # type: ignore[method-assign]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.http.server_port}{path}"


@contextmanager
def served(folder: Path, seconds: float = 20.0, paths: tuple[str, ...] = ("/bad", "/good")) -> Iterator[Server]:
    """A data set `toy` whose first mirror is bad and whose second is good; no pauses, and little patience."""
    server = Server()
    mirrors = tuple(map(server.url, paths))
    file = DataFile("toy.csv", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), mirrors)
    surroundings = {"SHOWDOWN_CACHE": str(folder), "NO_PROXY": "127.0.0.1", "SHOWDOWN_DATA": ""}
    with (
        mock.patch.dict(CATALOGUE, {"toy": Dataset("toy", "", "", (file,))}),
        mock.patch.dict(os.environ, surroundings),
        mock.patch.multiple(fetching, PAUSES=(0.0, 0.0, 0.0), SECONDS=seconds, SLOWEST=float("inf")),
    ):
        try:
            yield server
        finally:
            server.http.shutdown()
            server.http.server_close()
