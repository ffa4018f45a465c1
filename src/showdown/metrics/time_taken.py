"""Time: the seconds a cell ran, compilation not counted.

A cell's trials run together as one program, so there is one number for the cell and no standard error over trials.
"""

from __future__ import annotations

from showdown.metrics.metric import Metric

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
