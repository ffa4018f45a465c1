"""How long a recommendation may take: `90s`, `2m`, `1h`, and what is left of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from showdown.basics.errors import UsageError

DEFAULT = "5m"
# For measuring decisions and drawing the page: a tenth, but at least some seconds, and more on a busy machine.
RESERVED, RESERVED_SECONDS, MOST_RESERVED = 0.1, 10.0, 0.4
_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh])?\s*", text)
    if not found or not float(found[1]):
        raise UsageError(f"a budget is a time such as 90s, 2m, 10m or 1h, not {text!r}")
    return float(found[1]) * _UNITS[found[2] or "m"]


@dataclass(frozen=True)
class Budget:
    seconds: float
    crowding: float = 1.0  # how many times slower than an idle machine this one is
    began: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """For playing."""
        reserved = max(RESERVED * self.seconds, RESERVED_SECONDS * self.crowding)
        return self.seconds - min(reserved, MOST_RESERVED * self.seconds) - self.elapsed
