"""What formats with one line per policy share."""

from __future__ import annotations

from collections.abc import Callable

from showdown.analysis.agreement import AGREES, DIFFERS, NOISY
from showdown.analysis.table import Table
from showdown.report.grid import Entry, Grid

Cell = Callable[[Entry], str]  # how a format writes one number

BEST = "best, or cannot be told from the best"


def mark(entry: Entry) -> str:
    """Whether a number agrees with the paper's."""
    return " ≠" if entry.not_compared else {AGREES: " ✓", DIFFERS: " ✗", NOISY: " ≈", None: ""}[entry.finding]


def legend(table: Table, sign: str) -> str:
    """What the marks mean; empty where there are none."""
    parts = [f"{sign} {BEST}"] if any(table.best.values()) else []
    if table.is_compared:
        parts.append("✓ agrees with the paper, ✗ does not, ≈ too noisy to tell, ≠ not compared (other number of steps)")
    return "; ".join(parts)


def lines(table: Table, content: Grid, escape: Callable[[str], str], ours: Cell, paper: Cell) -> list[list[str]]:
    """The heading and a line per policy; a column of the paper's numbers beside each of ours when they are compared."""
    beside = [paper] if table.is_compared else []
    return [
        ["policy", *(part for heading in content.headings for part in [escape(heading), *["paper"] * len(beside)])],
        *(
            [escape(policy), *(write(entry) for entry in entries for write in [ours, *beside])]
            for policy, entries in content.body
        ),
    ]
