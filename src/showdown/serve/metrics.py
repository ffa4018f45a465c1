"""What the server has done, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0)  # seconds
GAUGES = {"waiting", "dead_features"}  # counts of an agent that can fall


class ServerMetrics:
    """Counts requests as they are answered, and asks `look` for everything else when it is read."""

    def __init__(self, look: Callable[[], Iterable[Metric]]) -> None:
        disable_created_metrics()
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "showdown_http_requests", "Answers by path and status.", ("path", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "showdown_http_request_seconds",
            "Time from a whole request to its answer.",
            ("path",),
            buckets=BOUNDS,
            registry=self._registry,
        )
        self._found: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._registry.register(_Collector(look))

    def count(self, path: str, status: int, seconds: float) -> None:
        key = path, status
        if key not in self._found:  # finding it takes longer than counting
            self._found[key] = self._answers.labels(path, str(status)), self._seconds.labels(path)
        answers, times = self._found[key]
        answers.inc()
        times.observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _Collector:
    """A collector whose numbers are kept elsewhere."""

    def __init__(self, look: Callable[[], Iterable[Metric]]) -> None:
        self._look = look

    def describe(self) -> Iterable[Metric]:
        return ()  # so that registering it asks for nothing

    def collect(self) -> Iterable[Metric]:
        return self._look()


def of_agent(counts: Mapping[str, Any]) -> Iterator[Metric]:
    """What `Agent.counts()` says. Counts of the encoder that are kept by column get a label for it."""
    for key, value in counts.items():
        if key != "encoder":
            kind = GaugeMetricFamily if key in GAUGES else CounterMetricFamily
            yield kind(f"showdown_agent_{key}", f"Agent.counts()[{key!r}], see docs/deploy.md.", value=value)
    for key, value in counts.get("encoder", {}).items():
        help = f"Agent.counts()['encoder'][{key!r}], see docs/deploy.md."
        if not isinstance(value, Mapping):
            yield CounterMetricFamily(f"showdown_encoder_{key}", help, value=value)
            continue
        by_column = CounterMetricFamily(f"showdown_encoder_{key}", help, labels=["column"])
        for column, number in value.items():
            by_column.add_metric([str(column)], number)
        yield by_column


def gauge(name: str, help: str, value: float, labels: Mapping[str, str] | None = None) -> Metric:
    made = GaugeMetricFamily(name, help, labels=list(labels or {}))
    made.add_metric(list((labels or {}).values()), value)
    return made
