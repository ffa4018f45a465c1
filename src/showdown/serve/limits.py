"""How much one client may ask of the server. Each limit is checked before the work it limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    body_bytes: int = 1 << 20  # of one request
    batch: int = 1000  # decisions or rewards in one request
    waiting: int = 256  # requests that wait for the agent
    connections: int = 500  # open at one time
    read_seconds: float = 10.0  # for the headers of a request, and again for its body
