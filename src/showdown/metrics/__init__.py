"""The metrics: every `Metric` of every module in this package, in order. Adding one is adding a file here.

    from showdown.metrics import METRICS, metric_named

`METRICS` is read when it is needed, so a metric that is put into it later (`METRICS[new.name] = new`) counts too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules

from showdown.basics.errors import UsageError
from showdown.metrics.metric import EXPECTED, Metric

BEST_FIXED = "always the best fixed action"  # in hindsight; beside it some metrics are shown


def _found() -> Iterator[Metric]:
    for module in iter_modules(__path__):
        yield from (
            value for value in vars(import_module(f"{__name__}.{module.name}")).values() if isinstance(value, Metric)
        )


def by_name(found: Iterable[Metric]) -> dict[str, Metric]:
    """The metrics by name, in order; raises UsageError where one name means two metrics."""
    known: dict[str, Metric] = {}
    for metric in sorted(found, key=lambda metric: metric.order):
        if known.setdefault(metric.name, metric) is not metric:
            raise UsageError(f"two different metrics are called {metric.name!r}")
    return known


METRICS: dict[str, Metric] = by_name(_found())
MAIN = next(iter(METRICS))  # shown where nobody asked for another


def metric_named(name: str) -> Metric:
    """The metric with this name, or with this name of its column of mean rewards."""
    metric = METRICS.get(name.removesuffix(EXPECTED))
    if metric is None:
        raise UsageError(f"no metric is called {name!r}; there are {', '.join(METRICS)}")
    return metric


def per_trial() -> list[str]:
    """Every column of the store with one number per trial."""
    return [column for metric in METRICS.values() for column in metric.columns]


def per_checkpoint() -> dict[str, str]:
    """Every column of the store with one number per checkpoint, and the column whose running total it is."""
    return {curve: column for metric in METRICS.values() for curve, column in metric.curves.items()}


def required() -> list[str]:
    """The columns without which a stored table is broken."""
    return [column for metric in METRICS.values() if metric.required for column in metric.columns]
