"""What a metric is: one value that the loop, the store, the tables, the page and the command line read.

Nothing heavy is imported here, because the command line lists the metrics before NumPy is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from showdown.basics.errors import UsageError

Take = Callable[..., Any]  # from what a segment of play reports (`play.segment.Played`), on the host, to an array
OVER = ("total", "mean", "last")  # the steps of a trial: summed, their mean, the mean of the last
EXPECTED = "_expected"  # ends the name of a column that counts mean rewards instead of drawn ones
FIXED = "_fixed"  # ends the name of a column about the best fixed action


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric is measured at every step of a trial (`step`), or once for a whole cell (`cell`).

    A trial is played in segments, and `step` sees one of them at a time. A metric that must know what came before has a
    `memory`: an array with one row per trial. `step(played, memory)` then returns the values and the memory after the
    segment, which the next segment gets. Without a memory it is `step(played)`, which returns the values.
    """

    name: str  # as a user types it; the store's column has the same name
    title: str  # as a sentence says it
    unit: str  # of the number as it is measured
    decimals: int  # shown in that unit; percentages always have two
    order: int  # place in lists, the smallest first
    smaller_is_better: bool = True
    baseline: str = ""  # the policy whose mean is 100 %; none: always shown as it is measured
    published: str = ""  # what the paper's tables call it; none: nothing was published

    step: Take | None = None  # (trials, steps) values
    expected_step: Take | None = None  # the same with mean rewards instead of drawn ones, for `--expected`
    memory: Callable[[int], Any] | None = None  # before the first step of so many trials; see above
    over: Literal["total", "mean", "last"] = "total"  # one of OVER
    curve: str = ""  # column of the running total at the checkpoints
    fixed_step: Take | None = None  # (trials, actions) sums over a segment: if one action were played throughout
    needs_labels: bool = False  # it makes sense only where one action is right: on problems with labels
    required: bool = False  # every stored cell has it, so a table without it is broken and not merely old

    cell: str = ""  # field of a cell's record that holds the number, for metrics of whole cells

    def __post_init__(self) -> None:
        if self.over not in OVER:
            raise UsageError(f"the metric {self.name!r} has over={self.over!r}; it is one of {', '.join(OVER)}")
        if self.curve and self.over != "total":
            raise UsageError(f"the metric {self.name!r} has a curve, which is a running total: over must be 'total'")
        if self.memory is not None and self.step is None and self.expected_step is None:
            raise UsageError(f"the metric {self.name!r} has a memory, but no step that would use it")

    def column(self, expected: bool = False) -> str:
        """The store's column that holds it."""
        return self.name + EXPECTED if expected else self.name

    @property
    def is_share(self) -> bool:
        """Whether it is a number from 0 to 1, as are the ends of its intervals."""
        return self.unit.startswith("share")

    @property
    def steps(self) -> dict[str, Take]:
        """What each column with one number per trial takes from a step, by column."""
        taken = {self.column(): self.step, self.column(expected=True): self.expected_step}
        return {column: take for column, take in taken.items() if take is not None}

    @property
    def fixed_column(self) -> str:
        """The column of the best fixed action in hindsight; empty where there is none."""
        return self.name + FIXED if self.fixed_step else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column with one number per trial."""
        return (*self.steps, *filter(None, [self.fixed_column]))

    @property
    def curves(self) -> dict[str, str]:
        """The columns with a number per checkpoint, and the column whose running total each is."""
        return {self.curve + column.removeprefix(self.name): column for column in self.steps} if self.curve else {}
