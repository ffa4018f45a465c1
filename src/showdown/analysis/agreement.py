"""Does a number of ours agree with the published one?

It does when |mean − paper| ≤ 3·√(sem² + paper_sem²) + 0.10·paper: three standard errors of the difference, plus a tenth
for what the paper leaves open. A standard error that is missing (a single trial; a time) counts as 0.

A preset with fields overridden is another *reading* of the paper's row: it stands beside the same published number, and
is counted apart from the presets.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from showdown.analysis import preset_of
from showdown.analysis.published import HORIZONS

ERRORS = 3.0
SLACK = 0.10
_ROUNDING = 1e-12  # a difference that equals the tolerance in decimals must not fail in binary


def agrees(summary: pd.DataFrame) -> pd.Series:
    """True or False per row with columns mean, sem, paper_mean, paper_sem; None where nothing was published."""
    mean, paper = summary["mean"].astype(float), summary["paper_mean"].astype(float)
    variance = summary["sem"].astype(float).fillna(0) ** 2 + summary["paper_sem"].astype(float).fillna(0) ** 2
    tolerance = ERRORS * np.sqrt(variance) + SLACK * paper
    close = (mean - paper).abs() <= tolerance + _ROUNDING * paper.abs()
    return close.astype(object).where(paper.notna() & mean.notna(), None)


def against(summary: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The summary with paper_mean, paper_sem and agrees beside each row, in the same order.

    A cell of another number of steps than the paper's is shown with its number but not compared: agrees is None.
    """
    rows = summary.assign(preset=summary["policy"].map(preset_of))
    published = published.rename(columns={"policy": "preset"})
    joined = rows.merge(published, how="left", on=["preset", "problem"], validate="many_to_one").drop(columns="preset")
    answers = agrees(joined)
    steps = joined["problem"].map(HORIZONS)
    other_steps = steps.notna() & (joined["horizon"] != steps)
    return joined.assign(agrees=answers.mask(other_steps, None))


def count_agreement(compared: pd.DataFrame, readings: bool = False) -> tuple[int, int]:
    """How many rows of presets (or of their other readings) agree, of how many that could be compared."""
    rows = compared[(compared["policy"] != compared["policy"].map(preset_of)) == readings]
    answers = [answer for answer in rows["agrees"] if answer is not None]
    return sum(map(bool, answers)), len(answers)
