"""Find what makes a comparison doubtful: short horizons, curves that still bend, warm-up, few trials, unequal coverage.

Curves are judged by the regret of each quarter of a trial, paired over trials, with rules that keep false alarms rare:

- *still improving*: the last quarter lost at least 10 % less than the one before, at p < 0.01. A straight line is
  flagged in fewer than 1 of 100 cells; √t (16 % less) and faster learning are, once the trials show it.
- *catching up*: a policy that is behind lost less in the last quarter than the best one, at p < 0.01 over all
  comparisons, and at these rates the curves cross before the full length, or within three times the steps played.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from showdown.analysis import preset_of
from showdown.analysis.notes import (
    Bending,
    CatchingUp,
    Caution,
    FewTrials,
    LongWarmUp,
    NoTimes,
    Rounded,
    SameRows,
    ShortHorizon,
    SlowPath,
    UnequalCoverage,
    UnsharedProblems,
)
from showdown.analysis.play_details import QUARTERS, DetailsByCell, PlayDetails
from showdown.analysis.published import HORIZONS
from showdown.analysis.ranks import REFERENCES, coverage

FEWEST_TRIALS = 10
WARM_UP_SHARE = 1 / 4
LESS = 0.10  # by which a quarter must be better than the one before to count as bending
CERTAIN = 0.01
FURTHER = 3  # times the steps played: how far curves are extrapolated where nothing longer can be played


def cautions(frame: pd.DataFrame, details: DetailsByCell | None = None) -> list[Caution]:
    """What makes a frame with one cell per (policy, problem) doubtful; without details only what the frame says."""
    cells = _cells(frame)
    found = [*_about_play(cells, details), *_slow(cells, details)] if details is not None else []
    doubts = _few_trials(cells), _same_rows(cells), *_unequal(cells)
    return [*found, *(caution for caution in doubts if caution.items)]


def about_play(frame: pd.DataFrame, details: DetailsByCell) -> list[Caution]:
    """Cautions about how the cells were played, each by itself."""
    return _about_play(_cells(frame), details)


def _about_play(cells: list[dict[str, Any]], details: DetailsByCell) -> list[Caution]:
    found = _short(cells, details), _bending(cells, details), _warm_up(cells, details), _rounded(cells, details)
    return [caution for caution in found if caution.items]


def few_trials(frame: pd.DataFrame) -> Caution:
    """The cells with too few trials for small differences to show."""
    return _few_trials(_cells(frame))


def unequal_coverage(frame: pd.DataFrame) -> list[Caution]:
    """The policies that are not ranked, and the problems that are left out of the ranks."""
    return _unequal(_cells(frame))


def _cells(frame: pd.DataFrame) -> list[dict[str, Any]]:
    columns = ["cell", "policy", "problem", "horizon", "trials"]
    return frame[columns].drop_duplicates(["policy", "problem"]).to_dict("records")


def full_length(problem: str, detail: PlayDetails) -> int | None:
    """The steps that the problem is meant to be played for: the paper's, or all rows; None: no such number."""
    return HORIZONS.get(preset_of(problem)) or detail.rows


def _short(cells: list[dict[str, Any]], details: DetailsByCell) -> Caution:
    short = {}
    for cell in cells:
        full = full_length(cell["problem"], details[cell["cell"]]) if cell["cell"] in details else None
        if full is not None and cell["horizon"] < full:
            short[cell["problem"]] = (cell["problem"], int(cell["horizon"]), full)
    return ShortHorizon(tuple(short.values()))


def _bending(cells: list[dict[str, Any]], details: DetailsByCell) -> Caution:
    return Bending(
        tuple(
            (cell["policy"], cell["problem"])
            for cell in cells
            if cell["policy"] not in REFERENCES
            and cell["cell"] in details
            and is_bending(details[cell["cell"]].quarters)
        )
    )


def is_bending(quarters: np.ndarray | None) -> bool:
    """Whether the last quarter lost clearly less than the one before; `quarters` is (trials, 4) regret."""
    if quarters is None:
        return False
    before, last = quarters[:, -2], quarters[:, -1]
    return bool(last.mean() <= (1 - LESS) * before.mean()) and _p_value(before - last) < CERTAIN


def _p_value(differences: np.ndarray) -> float:
    """The one-sided p-value that the mean is not positive; 1 for fewer than two differences."""
    from scipy import special

    count = len(differences)
    error = differences.std(ddof=1) / math.sqrt(count) if count > 1 else 0.0
    mean = differences.mean() if count else 0.0
    if count < 2 or error == 0:
        return 0.0 if count > 1 and mean > 0 else 1.0
    return float(special.stdtr(count - 1, -mean / error))


def _warm_up(cells: list[dict[str, Any]], details: DetailsByCell) -> Caution:
    pulls = {cell["cell"]: details[cell["cell"]].warm_up for cell in cells if cell["cell"] in details}
    return LongWarmUp(
        tuple(
            (cell["policy"], cell["problem"], min(pulls[cell["cell"]], int(cell["horizon"])), int(cell["horizon"]))
            for cell in cells
            if pulls.get(cell["cell"], 0) >= WARM_UP_SHARE * cell["horizon"]
        )
    )


def _rounded(cells: list[dict[str, Any]], details: DetailsByCell) -> Caution:
    known = [(cell, details[cell["cell"]].rounding) for cell in cells if cell["cell"] in details]
    return Rounded(tuple((cell["policy"], cell["problem"], error) for cell, error in known if error))


def _slow(cells: list[dict[str, Any]], details: DetailsByCell) -> list[Caution]:
    """A caution about the cells that were played in plain Python, if there are any."""
    slow = [cell for cell in cells if cell["cell"] in details and details[cell["cell"]].in_python]
    return [SlowPath(tuple((cell["policy"], cell["problem"]) for cell in slow))] if slow else []


def _few_trials(cells: list[dict[str, Any]]) -> Caution:
    few = (cell for cell in cells if cell["trials"] < FEWEST_TRIALS)
    return FewTrials(tuple((cell["policy"], cell["problem"], int(cell["trials"])) for cell in few), FEWEST_TRIALS)


def _same_rows(cells: list[dict[str, Any]]) -> Caution:
    return SameRows(tuple(dict.fromkeys(cell["problem"] for cell in cells if "/in-order" in cell["problem"])))


def _unequal(cells: list[dict[str, Any]]) -> list[Caution]:
    """Cautions about policies that are not ranked, and about problems that are left out of the ranks."""
    if not cells:
        return []
    found = coverage(pd.DataFrame(cells))
    lacking = tuple((policy, found.played[policy], found.total) for policy in found.left_out)
    problems = dict.fromkeys(cell["problem"] for cell in cells)
    unshared = tuple(name for name in problems if found.problems and name not in found.problems)
    return [UnequalCoverage(lacking), UnsharedProblems(unshared, found.total)]


def no_times(frame: pd.DataFrame, details: DetailsByCell) -> str:
    """Why the times of these cells must not be compared; empty where they can be."""
    known = [details[cell] for cell in dict.fromkeys(frame["cell"]) if cell in details]
    machines = len({detail.hardware for detail in known})
    if machines > 1:
        return f"cells were run on {machines} kinds of hardware"
    if len(known) > 1 and any(detail.in_python for detail in known):
        return "policies in plain Python, the slow path, are among them"
    if len(known) > 1 and any(detail.drawn_in_python for detail in known):
        return "trials were drawn in plain Python, by whichever cell came first"
    if len(known) > 1 and any(detail.concurrent for detail in known):
        return "cells were run at the same time as others (--processes)"
    return ""


def with_times(frame: pd.DataFrame, details: DetailsByCell | None) -> tuple[pd.DataFrame, list[Caution]]:
    """The cells of problems on which times can be compared, and a caution about the others."""
    if details is None:
        return frame, []
    reasons = {str(name): no_times(group, details) for name, group in frame.groupby("problem", sort=False)}
    refused = tuple((name, why) for name, why in reasons.items() if why)
    kept = frame[~frame["problem"].isin([name for name, _ in refused])]
    return kept, [NoTimes(refused)] if refused else []


def catching_up(frame: pd.DataFrame, details: DetailsByCell, best: str, rivals: Iterable[str]) -> Caution:
    """Rivals of the best policy of one problem whose curve would cross its curve, were play to go on."""
    cells = {cell["policy"]: cell for cell in _cells(frame)}
    rivals = [name for name in rivals if name in cells]
    detail = details.get(cells[best]["cell"]) if best in cells else None
    found = []
    for name in rivals if detail is not None and detail.quarters is not None else ():
        theirs = details.get(cells[name]["cell"])
        if detail is None or theirs is None or theirs.quarters is None:
            continue
        problem, horizon = cells[best]["problem"], int(cells[best]["horizon"])
        crossing = _crossing(detail.quarters, theirs.quarters, horizon, len(rivals))
        if crossing <= max(full_length(problem, detail) or 0, FURTHER * horizon):
            found.append((name, problem, best, crossing))
    return CatchingUp(tuple(found))


def _crossing(best: np.ndarray | None, other: np.ndarray | None, horizon: int, comparisons: int) -> float:
    """Steps after which `other`, (trials, 4) regret by quarter, has lost less than `best`; infinity for never."""
    assert best is not None and other is not None  # noqa: PT018
    trials = min(len(best), len(other))
    best, other = best[:trials], other[:trials]
    faster = best[:, -1] - other[:, -1]
    gap = float((other.sum(axis=1) - best.sum(axis=1)).mean())
    if gap <= 0 or comparisons * _p_value(faster) >= CERTAIN:
        return math.inf
    return horizon + gap / float(faster.mean()) * horizon / QUARTERS
