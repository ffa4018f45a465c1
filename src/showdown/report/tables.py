"""A table of policies × problems, ready to be written in any format: which cell goes where and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from showdown.analysis.agreement import count_agreement

RANK = "mean_rank"  # the column (and metric) of mean ranks, where there is one
_PLACES = {"regret per step": 4, "seconds": 3, "rank": 1}  # decimals by unit; everything else has the paper's two
_PAPER_COLUMNS = ["paper_mean", "paper_sem", "agrees"]


@dataclass(frozen=True)
class Table:
    """Tidy rows and how to arrange them."""

    title: str
    rows: pd.DataFrame  # a summary; with paper_mean, paper_sem and agrees when it is held against the paper
    policies: list[str]  # every policy of the rows, in the order they are shown
    problems: list[str]  # every problem of the rows, likewise
    notes: list[str] = field(default_factory=list)  # sentences below the table
    not_shown: list[dict[str, Any]] = field(default_factory=list)  # cells that were tried and are not done

    @property
    def is_compared(self) -> bool:
        return "agrees" in self.rows

    @property
    def agreement(self) -> dict[str, dict[str, int]]:
        """How many cells agree with the paper, of how many compared: those of presets, and with fields overridden."""

        def count(readings: bool) -> dict[str, int]:
            return dict(zip(("agree", "compared"), count_agreement(self.rows, readings), strict=True))

        return {"agreement": count(readings=False), "agreement_of_readings": count(readings=True)}


@dataclass(frozen=True)
class Entry:
    """What stands in one place of the grid. An empty `ours` means that there is no such cell."""

    ours: str = ""
    best: bool = False
    paper: str = ""
    agrees: bool | None = None


@dataclass(frozen=True)
class Grid:
    headings: list[str]  # one per problem
    body: list[tuple[str, list[Entry]]]  # policy and its entries


def grid(table: Table, plus_minus: str = " ± ") -> Grid:
    """Numbers as text, the lowest mean of each column marked as the best (all of them where several are equal)."""
    rows = {(row["policy"], row["problem"]): row for row in table.rows.to_dict("records")}
    lowest = table.rows.groupby("problem")["mean"].min()
    units = table.rows.drop_duplicates("problem").set_index("problem")["unit"]
    several = units.drop(index=RANK, errors="ignore").nunique() > 1

    def entry(policy: str, problem: str) -> Entry:
        row = rows.get((policy, problem))
        if row is None:
            return Entry()
        places = _PLACES.get(row["unit"], 2)
        return Entry(
            ours=_number(row["mean"], row["sem"], places, plus_minus),
            best=row["mean"] == lowest[problem],
            paper=_number(row.get("paper_mean", math.nan), row.get("paper_sem", math.nan), places, plus_minus),
            agrees=row.get("agrees"),
        )

    def heading(problem: str) -> str:
        if problem == RANK:
            return "mean rank"
        return f"{problem} ({units[problem]})" if several else problem

    return Grid(
        headings=[heading(problem) for problem in table.problems],
        body=[(policy, [entry(policy, problem) for problem in table.problems]) for policy in table.policies],
    )


def _number(mean: float, sem: float, places: int, plus_minus: str) -> str:
    if math.isnan(mean):
        return ""
    return f"{mean:.{places}f}" if math.isnan(sem) else f"{mean:.{places}f}{plus_minus}{sem:.{places}f}"


def records(table: Table) -> list[dict[str, Any]]:
    """The tidy rows as plain values in the order of the grid; None where there is no number."""
    columns = [*table.rows.columns.drop(_PAPER_COLUMNS, errors="ignore")]
    if table.is_compared:
        columns += _PAPER_COLUMNS
    place = {name: number for number, name in enumerate(table.policies)}
    column = {name: number for number, name in enumerate(table.problems)}
    rows = sorted(table.rows.to_dict("records"), key=lambda row: (place[row["policy"]], column[row["problem"]]))
    return [{name: _plain(name, row[name]) for name in columns} for row in rows]


def _plain(name: str, value: Any) -> Any:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return int(value) if name in ("horizon", "seed", "trials") else value


def agreement_line(table: Table) -> str:
    presets, readings = table.agreement.values()
    told = f"; with fields overridden: {readings['agree']} of {readings['compared']}" if readings["compared"] else ""
    return f"agreement: {presets['agree']} of {presets['compared']} cells{told}"


def not_shown_lines(table: Table) -> list[str]:
    """One sentence per cell that was tried and did not finish."""
    return [
        f"not shown: {cell['policy']} on {cell['problem']} "
        f"(horizon {cell['horizon']}, {cell['trials']} trials, seed {cell['seed']}): {cell['status']}"
        + (f", {cell['reason']}" if cell.get("reason") else "")
        for cell in table.not_shown
    ]
