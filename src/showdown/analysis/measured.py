"""Which cells hold a metric: a store may be older than the metric, and some metrics make no sense on some problems."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from showdown.analysis.notes import NeedsLabels, Note, NotKept
from showdown.metrics.metric import Metric


class Measured(NamedTuple):
    frame: pd.DataFrame  # the rows of cells that hold the metric
    notes: list[Note]  # about the others


def measured(frame: pd.DataFrame, metric: Metric, expected: bool = False) -> Measured:
    """The part of a frame that a metric can be read from, and what to say about the rest."""
    if metric.cell:
        return Measured(frame, [])
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
    return Measured(frame[meant & held], notes)


def _each(values: pd.Series) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
