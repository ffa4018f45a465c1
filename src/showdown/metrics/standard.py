"""The metrics of the benchmark: regret, reward, accuracy and time.

Regret is what the best action was expected to pay, minus what the chosen one paid, as in the paper; with `--expected`,
minus what the chosen one was expected to pay, which has less noise. Reward is what was actually paid per step, in the
units of the problem. Accuracy is the share of steps in which the right action was chosen, on problems with labels. Time
is the seconds a cell ran, compilation not counted: a cell's trials run together as one program, so there is one number
for the cell and no standard error over trials.
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


TIME = Metric(
    name="time",
    title="time to run",
    unit="seconds",
    decimals=3,
    order=50,
    baseline="RMS",
    published="time",
    cell="run_seconds",
)
