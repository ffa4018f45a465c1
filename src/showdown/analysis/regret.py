"""Regret per (policy, problem): mean and standard error over trials, in units of Uniform's mean or as it is."""

from __future__ import annotations

import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.selection import require_one_cell_each
from showdown.errors import UsageError

REGRETS = ("cumulative", "simple")
BASELINE = "Uniform"
_RUN = ["problem", "horizon", "seed"]  # what two policies must share to be comparable


def summarise(
    frame: pd.DataFrame, metric: str = "cumulative", *, expected: bool = False, absolute: bool = False
) -> pd.DataFrame:
    """A summary of `cumulative` or `simple` regret; `expected` counts each action's mean instead of its draw.

    Unless `absolute`, both mean and standard error are 100·value / (mean of Uniform on the same problem, horizon and
    seed). The standard error is the sample deviation (ddof = 1) over √trials: NaN for a single trial.
    """
    require_one_cell_each(frame)
    column = f"{metric}_expected" if expected else metric
    groups = frame.groupby(["policy", *_RUN], sort=False)[column]
    summary = groups.agg(mean="mean", sem="sem", trials="size").reset_index()
    unit = "regret" if metric == "cumulative" else "regret per step"
    if not absolute:
        summary, unit = relative_to_baseline(summary), f"% of {BASELINE}"
    return summary.assign(metric=column, unit=unit)[list(SUMMARY)]


def relative_to_baseline(summary: pd.DataFrame) -> pd.DataFrame:
    """Divide mean and standard error by Uniform's mean, times 100; the error of that divisor is not carried."""
    divisor = baseline(summary)
    return summary.assign(mean=100 * summary["mean"] / divisor, sem=100 * summary["sem"] / divisor)


def baseline(summary: pd.DataFrame) -> pd.Series:
    """Uniform's mean on each row's problem, horizon and seed."""
    uniform = summary[summary["policy"] == BASELINE].set_index(_RUN)["mean"]
    divisor = summary.merge(uniform.rename("divisor"), how="left", left_on=_RUN, right_index=True)["divisor"]
    for told, rows in (
        ("has no finished Uniform cell to normalise by", summary[divisor.isna()]),
        (
            "has a Uniform cell whose mean regret is not positive, so that nothing divides by it",
            summary[divisor <= 0],
        ),
    ):
        if len(rows):
            row = rows.iloc[0]
            where = f"{row['problem']} (horizon {row['horizon']}, seed {row['seed']})"
            others = rows["problem"].nunique() - 1
            more = f", and {others} other problem{'s' if others > 1 else ''} the same" if others else ""
            raise UsageError(f"{where} {told}{more}: run Uniform there, or ask for absolute numbers with --absolute")
    return divisor
