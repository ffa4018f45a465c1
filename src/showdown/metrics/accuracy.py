"""Accuracy: the share of steps in which the right action was chosen, on problems with labels."""

from __future__ import annotations

from operator import attrgetter

from showdown.metrics.metric import Metric

ACCURACY = Metric(
    name="accuracy",
    title="accuracy",
    unit="share of steps",
    decimals=4,
    order=40,
    smaller_is_better=False,
    step=lambda played: played.expected_regret == 0,
    over="mean",
    fixed_step=attrgetter("action_optimal"),
    needs_labels=True,
)
