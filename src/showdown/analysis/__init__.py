"""Summaries, ranks, time, comparisons and agreement with the paper: pure functions, tidy tables in, tidy tables out.

A *frame* has one row per (cell, trial), as `Store.frame` gives it; a *summary* has one row per (policy, problem) with
the columns of `SUMMARY`. Whether lower or higher is better is said by the metric (`showdown.metrics`).
"""

from showdown.config.registry import split_at_slashes

SUMMARY = ("policy", "problem", "horizon", "seed", "metric", "unit", "mean", "sem", "trials")


def preset_of(policy: str) -> str:
    """The name without the fields that were overridden: RMS of RMS[learning_rate=0.1]; RMS/Duel is another policy."""
    return "/".join(part.partition("[")[0] for part in split_at_slashes(policy))
