"""Summaries, ranks, time, comparisons and agreement with the paper: pure functions, tidy tables in, tidy tables out.

A *frame* has one row per (cell, trial), as `Store.frame` gives it; a *summary* has one row per (policy, problem) with
the columns of `SUMMARY`. Whether lower or higher is better is said by the metric (`showdown.metrics`).
"""

SUMMARY = ("policy", "problem", "horizon", "seed", "metric", "unit", "mean", "sem", "trials")


def preset_of(policy: str) -> str:
    """The name without the fields that were overridden: RMS of RMS[learning_rate=0.1]."""
    return policy.partition("[")[0]
