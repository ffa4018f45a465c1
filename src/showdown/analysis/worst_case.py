"""What could go wrong: the largest regret of the best method, and which methods fail on which problem.

A method fails on a problem where its mean regret is above Uniform's, or where a trial is stuck (`compare.stuck_share`).
Such a method may be fast, and its mean over problems good: it is never named as cheap or safe.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from showdown.analysis.compare import stuck_share
from showdown.analysis.ranks import REFERENCES
from showdown.analysis.summary import BASELINE
from showdown.metrics import MAIN


@dataclass(frozen=True)
class Failure:
    """A method that fails somewhere."""

    policy: str
    above: tuple[str, ...]  # problems on which its mean regret is above Uniform's
    stuck: tuple[tuple[str, int, int], ...]  # (problem, stuck trials, all trials), where some are


@dataclass(frozen=True)
class WorstCase:
    """The largest regret of the best method, and the methods that fail somewhere, the worst first."""

    largest: float  # in % of Uniform: its largest mean over problems or, on one problem, its worst trial
    problem: str
    failures: tuple[Failure, ...]

    def fails(self, policy: str) -> bool:
        """Whether the method is above Uniform, or has stuck trials, on any problem."""
        return any(found.policy == policy for found in self.failures)


def worst_case(rows: pd.DataFrame, best: str) -> WorstCase | None:
    """What could go wrong on the problems where Uniform was played; None where it was played nowhere."""
    uniform = rows[rows["policy"] == BASELINE].groupby("problem", sort=False)[MAIN].mean()
    usable = uniform[uniform > 0]
    rows = rows[rows["problem"].isin(usable.index) & rows[MAIN].notna()]
    mine = rows[rows["policy"] == best]
    if mine.empty:
        return None
    shares = 100 * mine[MAIN] / mine["problem"].map(usable)
    largest = shares.groupby(mine["problem"], sort=False).mean() if len(usable) > 1 else shares
    where = str(largest.idxmax()) if len(usable) > 1 else str(mine["problem"].iloc[0])
    return WorstCase(float(largest.max()), where, failures(rows, usable))


def failures(rows: pd.DataFrame, uniform: pd.Series) -> tuple[Failure, ...]:
    """The methods that fail somewhere, those that are above Uniform on most problems first."""
    means = rows.groupby(["policy", "problem"], sort=False)[MAIN].mean()
    above: dict[str, list[str]] = {}
    for (policy, problem), mean in means.items():
        if mean > uniform[problem]:
            above.setdefault(str(policy), []).append(str(problem))
    found = stuck_share(rows)
    stuck: dict[str, list[tuple[str, int, int]]] = {}
    for policy, problem, share, trials in zip(*(found[name] for name in found), strict=True):
        if share > 0:
            stuck.setdefault(str(policy), []).append((str(problem), round(share * trials), int(trials)))
    failing = (
        Failure(name, tuple(above.get(name, ())), tuple(stuck.get(name, ())))
        for name in dict.fromkeys([*above, *stuck])
        if name not in REFERENCES
    )
    return tuple(sorted(failing, key=lambda one: (-len(one.above), -sum(count / of for _, count, of in one.stuck))))
