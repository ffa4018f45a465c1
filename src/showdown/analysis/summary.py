"""What the trials of each (policy, problem) come to: means and standard errors, times, and mean curves.

A metric is given in units of Uniform's mean or as it is measured. A cell's trials run together as one program, so there
is one time for the cell, without compilation, and no standard error over trials; it is given in seconds, or per trial
relative to RMS = 100 as in the paper. A store may be older than a metric, and some metrics make no sense on some
problems: `cells_with_metric` tells such cells from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.notes import NeedsLabels, Note, NotKept
from showdown.analysis.selection import require_one_cell_each
from showdown.basics.errors import UsageError
from showdown.metrics import BEST_FIXED, MAIN, METRICS, metric_named
from showdown.metrics.metric import Metric
from showdown.metrics.standard import TIME

BASELINE = METRICS[MAIN].baseline
_RUN = ["problem", "horizon", "seed"]  # what two policies must share to be comparable


def summarise(
    frame: pd.DataFrame, metric: str = MAIN, *, expected: bool = False, absolute: bool = False
) -> pd.DataFrame:
    """A summary of a metric; `expected` counts each action's mean instead of its draw.

    Unless `absolute`, a metric with a baseline is given as 100·value / (mean of that policy on the same problem,
    horizon and seed), both mean and standard error. The standard error is the sample deviation (ddof = 1) over
    √trials: NaN for a single trial. Cells that do not hold the metric are left out (see `cells_with_metric`).
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


def summarise_best_fixed(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A summary of the best fixed action in hindsight, under the name `BEST_FIXED`; empty where the metric has none.

    Trial i of a problem is the same for every policy, so each trial counts once however many policies played it.
    """
    asked = metric_named(metric)
    if not asked.fixed_column or asked.fixed_column not in frame:
        return pd.DataFrame(columns=list(SUMMARY))
    trials = frame[frame[asked.fixed_column].notna()].drop_duplicates([*_RUN, "trial"])
    groups = trials.groupby(_RUN, sort=False)[asked.fixed_column]
    summary = groups.agg(mean="mean", sem="sem", trials="size").reset_index()
    return summary.assign(policy=BEST_FIXED, metric=asked.name, unit=asked.unit)[list(SUMMARY)]


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
            raise UsageError(
                f"{where} {fault}{more}: run {policy} there, or ask for absolute numbers with "
                "`showdown table --absolute`"
            )
    return divisor


def time_taken(frame: pd.DataFrame, *, absolute: bool = False) -> pd.DataFrame:
    """A summary of time. Problems with an RMS cell are in % of its time per trial; the others, or all, in seconds."""
    require_one_cell_each(frame)
    cells = frame.drop_duplicates(["policy", *_RUN]).reset_index(drop=True)
    summary = cells[["policy", *_RUN, "trials"]].assign(
        metric=TIME.name, unit=TIME.unit, mean=cells[TIME.cell].astype(float), sem=float("nan")
    )
    if not absolute:
        per_trial = summary["mean"] / summary["trials"]
        baseline = summary.assign(per_trial=per_trial)[summary["policy"] == TIME.baseline].set_index(_RUN)["per_trial"]
        divisor = summary.merge(baseline.rename("divisor"), how="left", left_on=_RUN, right_index=True)["divisor"]
        relative = divisor > 0
        summary["mean"] = (100 * per_trial / divisor).where(relative, summary["mean"])
        summary["unit"] = summary["unit"].mask(relative, f"% of {TIME.baseline}")
    return summary[list(SUMMARY)]


def per_trial(seconds: pd.DataFrame) -> pd.DataFrame:
    """A summary in seconds per trial, which can be compared, from one in seconds of whole cells."""
    return seconds.assign(mean=seconds["mean"] / seconds["trials"], unit="seconds per trial")


class CellsWithMetric(NamedTuple):
    """The cells that a metric can be read from."""

    frame: pd.DataFrame  # the rows of cells that hold the metric
    notes: list[Note]  # about the others


def cells_with_metric(frame: pd.DataFrame, metric: Metric, expected: bool = False) -> CellsWithMetric:
    """The part of a frame that a metric can be read from, and what to say about the rest."""
    if metric.cell:
        return CellsWithMetric(frame, [])
    column = metric.column(expected)
    if column not in frame:
        frame = frame.assign(**{column: float("nan")})
    notes: list[Note] = []
    meant = pd.Series(True, index=frame.index)
    if metric.needs_labels and "labels" in frame:
        meant = ~frame["labels"].astype(object).eq(False)  # an old record does not say
        if not meant.all():
            notes.append(NeedsLabels(_each(frame.loc[~meant, "problem"]), metric.name))
    held = frame[column].notna()
    if (meant & ~held).any():
        notes.append(NotKept(_each(frame.loc[meant & ~held, "cell"]), metric.name))
    return CellsWithMetric(frame[meant & held], notes)


def _each(values: pd.Series) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


class Curve(NamedTuple):
    """Cumulative regret over time: the mean over trials and its standard error at every checkpoint."""

    steps: np.ndarray  # (points,)
    mean: np.ndarray  # (points,)
    sem: np.ndarray  # (points,) NaN for a single trial
    trials: int = 0  # that the mean is over; 0: not known


def mean_curve(steps: Sequence[int] | np.ndarray, trials: np.ndarray) -> Curve:
    """The mean of the curves of the trials, (trials, points)."""
    steps, trials = np.asarray(steps), np.asarray(trials, float)
    count = len(trials)
    sem = trials.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.full(len(steps), np.nan)
    return Curve(steps, trials.mean(axis=0), sem, count)


def thin(curve: Curve, points: int) -> Curve:
    """The curve at no more than `points` of its points, evenly spread, the first and the last included."""
    if len(curve.steps) <= points:
        return curve
    kept = np.unique(np.round(np.linspace(0, len(curve.steps) - 1, points)).astype(int))
    return curve._replace(steps=curve.steps[kept], mean=curve.mean[kept], sem=curve.sem[kept])
