"""The choice at the end. The best of many noisy numbers is too good to be true, so it is not what is reported.

The best few and the default are played on fresh episodes, which decide; the one that wins is then compared with the
default on episodes that nothing was chosen by. That comparison, paired over trials, is the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from showdown.analysis.compare_trials import NO_DIFFERENCE, difference
from showdown.bench.cell import Cell
from showdown.tuning.evaluate import measure
from showdown.tuning.history import TuningHistory
from showdown.tuning.play_candidates import Place, Progress, combined
from showdown.tuning.space import Candidate

FINALISTS = 5
CHOOSING, REPORTING = 1_000_001, 1_000_002  # added to the seed of a tuning: episodes that it has not seen


@dataclass(frozen=True)
class ChosenOnProblem:
    """The chosen candidate and the default on fresh episodes, in the unit of the objective."""

    problem: str
    chosen: float
    default: float
    difference: float  # chosen minus default
    low: float  # 95 % interval of the difference, paired over trials; NaN for a single trial
    high: float
    wins: int  # trials in which the chosen one is better
    trials: int
    verdict: str  # on the chosen one: better, worse, or that no difference is shown


@dataclass(frozen=True)
class TuningResult:
    candidate: Candidate
    spelled: str
    is_default: bool  # nothing was found that beats it on fresh episodes
    problems: tuple[ChosenOnProblem, ...]
    finalists: tuple[dict[str, Any], ...]  # spelled, and value on fresh episodes; the default too

    @property
    def verdict(self) -> str:
        """The verdict over all problems: better or worse on some, mixed, or no difference shown on any."""
        found = {row.verdict for row in self.problems} - {NO_DIFFERENCE}
        return "mixed" if len(found) > 1 else found.pop() if found else NO_DIFFERENCE


def reported_cells(history: TuningHistory, chosen: Candidate) -> set[str]:
    """The cells, by their hashes, that the last comparison stored: of the chosen candidate and of the default."""
    request, space = history.request, history.request.space
    return {
        Cell(called, name, space.configured(one), problem, request.final_trials, request.seed + REPORTING).hash
        for called, one in ((request.preset, chosen), (space.name, history.entries[0].candidate))
        for name, problem in request.problems.items()
    }


def choose(history: TuningHistory, among: Place, reported: Place, progress: Progress | None = None) -> TuningResult:
    """Choose among the best on fresh episodes. The last comparison is stored in `reported`, for tables and the page."""
    request, space = history.request, history.request.space
    numbers = [0, *(number for number in history.best(FINALISTS) if number != 0)]  # the default wins a tie
    candidates = [history.entries[number].candidate for number in numbers]
    trials = request.final_trials
    fresh = measure(request, among, candidates, trials, request.seed + CHOOSING, progress=progress)
    alive = [place for place, each in enumerate(zip(*fresh, strict=True)) if all(m.losses is not None for m in each)]
    measured = [[m.losses for on in fresh if (m := on[place]).losses is not None] for place in alive]
    values = combined(measured, measured[0], request.combine)
    chosen = candidates[alive[int(values.argmin())]]
    pair, names = [chosen, candidates[0]], [request.preset, space.name]
    both = measure(request, reported, pair, trials, request.seed + REPORTING, progress=progress, called=names)
    sign = -1 if request.objective == "reward" else 1
    rows = [_compared(name, on[0].losses, on[1].losses, sign) for name, on in zip(request.problems, both, strict=True)]
    return TuningResult(
        candidate=chosen,
        spelled=space.spelled(chosen),
        is_default=chosen == candidates[0],
        problems=tuple(rows),
        finalists=tuple(
            {"spelled": space.spelled(candidates[place]), "value": float(value)}
            for place, value in zip(alive, values, strict=True)
        ),
    )


def _compared(problem: str, chosen: Any, default: Any, sign: int) -> ChosenOnProblem:
    """The chosen candidate against the default; `sign` is −1 where losses are rewards turned round."""
    one, other = sign * pd.Series(chosen, dtype=float), sign * pd.Series(default, dtype=float)
    found = difference(one, other, worse=sign)  # positive is worse
    low, high = (found.low, found.high) if sign == 1 else (-found.high, -found.low)
    numbers = float(one.mean()), float(other.mean()), sign * found.mean, low, high
    return ChosenOnProblem(problem, *numbers, found.wins, found.trials, found.verdict)
