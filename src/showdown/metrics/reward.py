"""Mean reward per step, in the units of the problem: what was actually paid."""

from __future__ import annotations

from operator import attrgetter

from showdown.metrics.metric import Metric

REWARD = Metric(
    name="reward",
    title="mean reward",
    unit="reward",
    decimals=4,
    order=30,
    smaller_is_better=False,
    step=attrgetter("reward"),
    over="mean",
    fixed_step=attrgetter("action_rewards"),
)
