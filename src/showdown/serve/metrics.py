"""What the server has done, in the text format that Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0)  # seconds
GAUGES = {"waiting"}  # counts of an agent that can fall


class Requests:
    """How many requests there were and how long they took. Only the event loop counts, so there is no lock."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()  # by path and status
        self._buckets: dict[str, list[int]] = {}  # by path: requests up to each bound, and above
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, path: str, status: int, seconds: float) -> None:
        self.answers[path, status] += 1
        buckets = self._buckets.setdefault(path, [0] * (len(BOUNDS) + 1))
        buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds[path] += seconds

    def lines(self) -> Iterable[str]:
        yield from _head("showdown_http_requests_total", "counter", "Answers by path and status.")
        for (path, status), number in sorted(self.answers.items()):
            yield _sample("showdown_http_requests_total", {"path": path, "status": str(status)}, number)
        name = "showdown_http_request_seconds"
        yield from _head(name, "histogram", "Time from a request's headers to the end of its answer.")
        for path, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, number in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                total += number
                yield _sample(f"{name}_bucket", {"path": path, "le": bound}, total)
            yield _sample(f"{name}_sum", {"path": path}, self._seconds[path])
            yield _sample(f"{name}_count", {"path": path}, total)


def agent_lines(counts: Mapping[str, Any]) -> Iterable[str]:
    """What `Agent.counts()` says. Counts of the encoder that are kept by column get a label for it."""
    for key, value in counts.items():
        if key != "encoder":
            kind = "gauge" if key in GAUGES else "counter"
            name = f"showdown_agent_{key}" + ("" if kind == "gauge" else "_total")
            yield from _head(name, kind, f"Agent.counts()[{key!r}], see docs/deploy.md.")
            yield _sample(name, {}, value)
    for key, value in counts.get("encoder", {}).items():
        name = f"showdown_encoder_{key}_total"
        yield from _head(name, "counter", f"Agent.counts()['encoder'][{key!r}], see docs/deploy.md.")
        by_column = value if isinstance(value, Mapping) else None
        if by_column is None:
            yield _sample(name, {}, value)
        for column, number in (by_column or {}).items():
            yield _sample(name, {"column": str(column)}, number)


def gauge(name: str, help: str, value: float, labels: Mapping[str, str] | None = None) -> Iterable[str]:
    yield from _head(name, "gauge", help)
    yield _sample(name, labels or {}, value)


def _head(name: str, kind: str, help: str) -> Iterable[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {value!r}" if inside else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
