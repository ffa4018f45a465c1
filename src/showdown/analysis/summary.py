"""A metric per (policy, problem): mean and standard error over trials, in units of Uniform's mean or as it is."""

from __future__ import annotations

import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.selection import require_one_cell_each
from showdown.analysis.time_taken import time_taken
from showdown.basics.errors import UsageError
from showdown.metrics import COMMONEST, MAIN, METRICS, metric_named
from showdown.metrics.metric import Metric

BASELINE = METRICS[MAIN].baseline
_RUN = ["problem", "horizon", "seed"]  # what two policies must share to be comparable


def summarise(
    frame: pd.DataFrame, metric: str = MAIN, *, expected: bool = False, absolute: bool = False
) -> pd.DataFrame:
    """A summary of a metric; `expected` counts each action's mean instead of its draw.

    Unless `absolute`, a metric with a baseline is given as 100·value / (mean of that policy on the same problem,
    horizon and seed), both mean and standard error. The standard error is the sample deviation (ddof = 1) over
    √trials: NaN for a single trial. Cells that do not hold the metric are left out (see `measured.py`).
    """
    asked = metric_named(metric)
    if asked.cell:
        return time_taken(frame, absolute=absolute)
    require_one_cell_each(frame)
    column = asked.column(expected)
    held = frame[frame[column].notna()]
    groups = held.groupby(["policy", *_RUN], sort=False)[column]
    summary = groups.agg(mean="mean", sem="sem", trials="size").reset_index()
    unit = asked.unit
    if asked.baseline and not absolute:
        summary, unit = relative_to_baseline(summary, asked.baseline), f"% of {asked.baseline}"
    return summary.assign(metric=column, unit=unit)[list(SUMMARY)]


def relative_where_possible(
    frame: pd.DataFrame, metric: str = MAIN, *, expected: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """A summary that is relative on problems with a usable baseline and absolute on the others, and these others."""
    asked = metric_named(metric)
    if asked.cell or not asked.baseline:
        return summarise(frame, metric, expected=expected), []
    absolute = summarise(frame, metric, expected=expected, absolute=True)
    usable = set(absolute.loc[(absolute["policy"] == asked.baseline) & (absolute["mean"] > 0), "problem"])
    others = [name for name in dict.fromkeys(absolute["problem"]) if name not in usable]
    if not usable:
        return absolute, others
    relative = summarise(frame[frame["problem"].isin(usable)], metric, expected=expected)
    rest = absolute[absolute["problem"].isin(others)]
    return pd.concat([relative, rest], ignore_index=True) if len(rest) else relative, others


def summarise_commonest(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A summary of the best fixed action in hindsight, under the name `COMMONEST`; empty where the metric has none.

    Trial i of a problem is the same for every policy, so each trial counts once however many policies played it.
    """
    asked = metric_named(metric)
    if not asked.fixed_column or asked.fixed_column not in frame:
        return pd.DataFrame(columns=list(SUMMARY))
    trials = frame[frame[asked.fixed_column].notna()].drop_duplicates([*_RUN, "trial"])
    groups = trials.groupby(_RUN, sort=False)[asked.fixed_column]
    summary = groups.agg(mean="mean", sem="sem", trials="size").reset_index()
    return summary.assign(policy=COMMONEST, metric=asked.name, unit=asked.unit)[list(SUMMARY)]


def metric_of(summary: pd.DataFrame) -> Metric:
    """The metric that a summary is of; rows that do not say are of the main one."""
    return metric_named(summary["metric"].iloc[0]) if "metric" in summary and len(summary) else METRICS[MAIN]


def relative_to_baseline(summary: pd.DataFrame, policy: str = BASELINE) -> pd.DataFrame:
    """Divide mean and standard error by the mean of `policy`, times 100; the error of that divisor is not carried."""
    divisor = baseline(summary, policy)
    return summary.assign(mean=100 * summary["mean"] / divisor, sem=100 * summary["sem"] / divisor)


def baseline(summary: pd.DataFrame, policy: str = BASELINE) -> pd.Series:
    """The mean of `policy` on each row's problem, horizon and seed."""
    own = summary[summary["policy"] == policy].set_index(_RUN)["mean"]
    divisor = summary.merge(own.rename("divisor"), how="left", left_on=_RUN, right_index=True)["divisor"]
    for fault, rows in (
        (f"has no finished {policy} cell to normalise by", summary[divisor.isna()]),
        (
            f"has a {policy} cell whose mean is not positive, so that nothing can be divided by it",
            summary[divisor <= 0],
        ),
    ):
        if len(rows):
            row = rows.iloc[0]
            where = f"{row['problem']} (horizon {row['horizon']}, seed {row['seed']})"
            others = rows["problem"].nunique() - 1
            more = f", and {others} other problem{'s' if others > 1 else ''} the same" if others else ""
            raise UsageError(f"{where} {fault}{more}: run {policy} there, or ask for absolute numbers with --absolute")
    return divisor
