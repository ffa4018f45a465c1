"""Wait for a cell that another run on the same store has claimed, and say who has it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from showdown.bench.cell import Cell
from showdown.bench.engine import CellResult, RunLimits
from showdown.bench.store import Store

PATIENCE_SECONDS = 10.0  # before it is said who is waited for, and then
AGAIN_SECONDS = 600.0  # between two times


@dataclass
class Waiting:
    """How long a run has waited for one cell, since this was made."""

    store: Store
    cell: Cell
    limits: RunLimits
    began: float = field(default_factory=time.monotonic)
    said: float = -AGAIN_SECONDS  # seconds after the beginning at which it was last said

    def given_up(self) -> CellResult | None:
        """The result of a cell that has been waited for as long as a cell may take, and None before.

        Says now and then who is waited for. Nothing is stored: the other run may still finish the cell.
        """
        waited, seconds = time.monotonic() - self.began, self.limits.cell_seconds
        if seconds is not None and waited >= seconds:
            late = f"waited for another run longer than the {seconds:g} seconds allowed for a cell"
            return CellResult(self.cell, "timeout", f"{late}: it is {self.store.who_plays(self.cell.hash)}", new=False)
        if waited >= PATIENCE_SECONDS and waited - self.said >= AGAIN_SECONDS and self.limits.say is not None:
            self.said = waited
            self.limits.say(f"{self.cell.label}: waiting for it: it is {self.store.who_plays(self.cell.hash)}")
        return None
