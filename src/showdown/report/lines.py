"""What formats with one line per policy share."""

from __future__ import annotations

from collections.abc import Callable

from showdown.analysis.table import Table
from showdown.report.grid import Entry, Grid

Cell = Callable[[Entry], str]  # how a format writes one number

MARKS = {True: " ✓", False: " ✗", None: ""}


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
