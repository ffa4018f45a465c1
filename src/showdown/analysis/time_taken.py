"""Time per (policy, problem): the seconds a cell ran, or per trial relative to RMS = 100 as the paper gives it.

A cell's trials run together as one program, so there is one time for the cell and no standard error over trials.
Compilation is not counted.
"""

from __future__ import annotations

import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.selection import require_one_cell_each
from showdown.metrics.time_taken import TIME

_RUN = ["problem", "horizon", "seed"]


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
    """A summary in seconds of whole cells, as seconds of one trial, which can be compared."""
    return seconds.assign(mean=seconds["mean"] / seconds["trials"], unit="seconds per trial")
