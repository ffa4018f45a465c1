"""Who is ahead of whom on how many problems: differences of more than so many standard errors, trial by trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from showdown.analysis.compare_trials import difference, values_of
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN, metric_named

ERRORS = 3.3  # standard errors: about 1 in 1,000 by chance, so that tables of a hundred comparisons can be read


class Wins(NamedTuple):
    """The problems on which a policy is better or worse than another, and those that do not show it."""

    better: tuple[str, ...]
    worse: tuple[str, ...]
    open: tuple[str, ...]


def wins(frame: pd.DataFrame, one: str, other: str | Callable[[str], str], metric: str = MAIN) -> Wins:
    """How `one` stands against `other` on each problem that both played; `other` may depend on the problem."""
    asked = metric_named(metric)
    if asked.cell:
        raise UsageError(f"{asked.title} is one number per cell and cannot be compared trial by trial")
    worse = 1 if asked.smaller_is_better else -1
    found: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for problem, group in frame.groupby("problem", sort=False):
        rival = other if isinstance(other, str) else other(str(problem))
        if not {one, rival} <= set(group["policy"]) or one == rival:
            continue
        values = values_of(group[group["policy"].isin((one, rival))], metric)
        apart = difference(values[one], values[rival], worse=worse)
        clear = abs(apart.mean) > ERRORS * apart.error  # never where a single trial gives no error
        found["open" if not clear else "better" if apart.mean < 0 else "worse"].append(str(problem))
    return Wins(*(tuple(names) for names in found.values()))
