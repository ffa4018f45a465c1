"""Does a number of ours agree with the published one?

It does when |mean − paper| ≤ 3·√(sem² + paper_sem²) + 0.10·paper: three standard errors of the difference, plus a tenth
for what the paper leaves open. A standard error that is missing (a single trial; a time) counts as 0.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

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
    """The summary with paper_mean, paper_sem and agrees beside each row, in the same order."""
    joined = summary.merge(published, how="left", on=["policy", "problem"], validate="many_to_one")
    return joined.assign(agrees=agrees(joined))


def count_agreement(compared: pd.DataFrame) -> tuple[int, int]:
    """How many rows agree, of how many that could be compared."""
    answers = [answer for answer in compared["agrees"] if answer is not None]
    return sum(map(bool, answers)), len(answers)
