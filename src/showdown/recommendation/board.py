"""Where every method stands while a recommendation is being made: what the live leaderboard shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from showdown.analysis.verdict import Verdict

WAITING, COMPILING, PLAYING = "waiting", "compiling", "playing"
REFERENCE = "reference"
IN_FRONT, BEHIND, OUT_OF_TIME, FAILED = "in front", "behind, dropped", "out of time", "failed"
NO_ROOM = "would not fit in the budget"  # and was not begun
COLLAPSED = "all features that it learned became 0 in a trial, so that it plays one action for ever"


@dataclass
class Standing:
    policy: str
    status: str = WAITING
    trials: int = 0  # that are finished
    steps: int = 0  # of each of them
    value: float | None = None
    low: float | None = None  # 95 % interval
    high: float | None = None
    share: float = 0.0  # of the cell being played
    reason: str = ""  # of a failure, or why it did not finish


@dataclass
class Board:
    metric: str
    budget: float  # seconds
    larger_is_better: bool = True
    trials: int = 0  # of the round being played
    elapsed: float = 0.0
    standings: dict[str, Standing] = field(default_factory=dict)
    verdict: Verdict | None = None  # of what is finished

    def best_first(self) -> list[Standing]:
        """All standings: those with a number, the best first, then the others in the order they are played."""
        sign = -1 if self.larger_is_better else 1
        return sorted(self.standings.values(), key=lambda one: (one.value is None, sign * (one.value or 0.0)))


Show = Callable[[Board, str], None]  # called when something changed; with a line for a log, or an empty one
