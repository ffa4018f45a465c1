"""Regret: what the best action was expected to pay, minus what the chosen one paid, as in the paper.

With `--expected`, minus what the chosen one was expected to pay, which has less noise.
"""

from __future__ import annotations

from operator import attrgetter

from showdown.metrics.metric import Metric

CUMULATIVE = Metric(
    name="cumulative",
    title="cumulative regret",
    unit="regret",
    decimals=2,
    order=10,
    baseline="Uniform",
    published="cumulative",
    step=attrgetter("regret"),
    expected_step=attrgetter("expected_regret"),
    over="total",
    curve="curve",
    required=True,
)

SIMPLE = Metric(
    name="simple",
    title="simple regret",
    unit="regret per step",
    decimals=4,
    order=20,
    baseline="Uniform",
    published="simple",
    step=attrgetter("regret"),
    expected_step=attrgetter("expected_regret"),
    over="last",
    required=True,
)
