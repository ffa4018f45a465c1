"""A table as text in places: which number goes where, with how many decimals, and which is the best.

Also what formats with one line per policy share, and the cells that were tried and are not done, which are never
dropped silently.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from showdown.analysis.notes import CAUTION, NOTE
from showdown.analysis.published import AGREES, DIFFERS, NOISY
from showdown.analysis.ranks import RANK
from showdown.analysis.table import Table
from showdown.basics.text import one_line
from showdown.bench.record import Record
from showdown.metrics import BEST_FIXED

TABLE = "table"  # the kind of a part that holds numbers and marks; the others are kinds of notes
_PAPER_COLUMNS = ["paper_mean", "paper_sem", "agrees", "z", "finding"]


@dataclass(frozen=True)
class GridEntry:
    """What stands in one place of the grid. An empty `ours` means that there is no such cell."""

    ours: str = ""
    best: bool = False
    paper: str = ""
    finding: str | None = None  # of the comparison with the paper
    not_compared: bool = False  # the paper's number is of another number of steps


@dataclass(frozen=True)
class Grid:
    headings: list[str]  # one per problem
    body: list[tuple[str, list[GridEntry]]]  # policy and its entries, and last the reference, where there is one


def grid(table: Table, plus_minus: str = " ± ") -> Grid:
    """Numbers as text, with the best of each column marked: every policy that cannot be told from the best mean.

    A reference is no policy, so it is never marked, and what it does moves no mark.
    """
    units = table.rows.drop_duplicates("problem").set_index("problem")["unit"]
    several = units.drop(index=RANK, errors="ignore").nunique() > 1

    def entry(row: dict[str, Any] | None, is_policy: bool = True) -> GridEntry:
        if row is None:
            return GridEntry()
        places = _decimals(table, row)
        paper = _number(row.get("paper_mean", math.nan), row.get("paper_sem", math.nan), places, plus_minus)
        return GridEntry(
            ours=_number(row["mean"], row["sem"], places, plus_minus),
            best=is_policy and is_best(table, row),
            paper=paper,
            finding=row.get("finding"),
            not_compared=bool(paper) and row.get("agrees") is None and row["problem"] != RANK,
        )

    def heading(problem: str) -> str:
        if problem == RANK:
            return "mean rank"
        return one_line(f"{problem} ({units[problem]})" if several else problem)

    rows = {(row["policy"], row["problem"]): row for row in table.rows.to_dict("records")}
    references = {row["problem"]: row for row in table.reference.to_dict("records")}
    body = [
        (one_line(policy), [entry(rows.get((policy, problem))) for problem in table.problems])
        for policy in table.policies
    ]
    if references:
        body.append((BEST_FIXED, [entry(references.get(problem), is_policy=False) for problem in table.problems]))
    return Grid([heading(problem) for problem in table.problems], body)


def is_best(table: Table, row: dict[str, Any]) -> bool:
    return row["policy"] in table.best.get(row["problem"], ())


def _decimals(table: Table, row: dict[str, Any]) -> int:
    if row["problem"] == RANK:
        return 1
    return 2 if row["unit"].startswith("%") else table.metric.decimals  # as the paper prints per cent


def _number(mean: float, sem: float, places: int, plus_minus: str) -> str:
    if math.isnan(mean):
        return ""
    return f"{mean:.{places}f}" if math.isnan(sem) else f"{mean:.{places}f}{plus_minus}{sem:.{places}f}"


def records(table: Table) -> list[dict[str, Any]]:
    """The tidy rows as plain values in the order of the grid; None where there is no number."""
    place = {name: number for number, name in enumerate(table.policies)}
    return _plain_rows(table, table.rows, lambda row: place[row["policy"]])


def reference_records(table: Table) -> list[dict[str, Any]]:
    """The rows of the reference, with the same fields as `records`."""
    return _plain_rows(table, table.reference, lambda row: 0)


def _plain_rows(table: Table, rows: pd.DataFrame, place: Any) -> list[dict[str, Any]]:
    columns = [*rows.columns.drop(_PAPER_COLUMNS, errors="ignore")]
    if table.is_compared:
        columns += _PAPER_COLUMNS
    column = {name: number for number, name in enumerate(table.problems)}
    ordered = sorted(rows.to_dict("records"), key=lambda row: (place(row), column[row["problem"]]))
    plain = [{name: _plain(name, row.get(name)) for name in columns} for row in ordered]
    return [{**values, "best": is_best(table, row)} for values, row in zip(plain, ordered, strict=True)]


def _plain(name: str, value: Any) -> Any:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return int(value) if name in ("horizon", "seed", "trials") else value


class Line(NamedTuple):
    """A part of a written table; a terminal colours it by its kind."""

    text: str
    kind: str  # TABLE, NOTE or CAUTION


def footer(table: Table) -> list[str]:
    """What a reader must know besides the numbers: the verdict first, the count of agreement last."""
    return [line.text for line in footer_lines(table)]


def footer_lines(table: Table) -> list[Line]:
    """The sentences of `footer`, each with its kind."""
    kinds: dict[str, str] = {}
    if table.verdict is not None:
        # a note about all cells shown says more than the verdict's warning of the same kind: one line for both
        notes = {str(note).partition(":")[0]: str(note) for note in table.notes}
        said = [
            *((line, NOTE) for line in table.verdict.lines),
            *((warning, CAUTION) for warning in table.verdict.warnings),
        ]
        for sentence, kind in said:
            kinds.setdefault(notes.get(sentence.partition(":")[0], sentence), kind)
    for note in table.notes:
        kinds.setdefault(str(note), note.kind)
    lines = [Line(text, kind) for text, kind in kinds.items()]
    lines += [Line(text, CAUTION) for text in _not_shown_lines(table)]
    return [*lines, Line(_agreement_line(table), NOTE)] if table.is_compared else lines


def _agreement_line(table: Table) -> str:
    presets, readings = table.agreement.values()
    others = f"; with fields overridden: {_counted(readings)}" if readings["compared"] else ""
    return f"agreement: {_counted(presets, ' cells')}{others}"


def _counted(count: dict[str, int], unit: str = "") -> str:
    noisy = f", {count['noisy']} too noisy to tell" if count["noisy"] else ""
    return f"{count['agree']} of {count['compared']}{unit}{noisy}"


def _not_shown_lines(table: Table) -> list[str]:
    """One sentence per cell that was tried and did not finish."""
    return [
        f"not shown: {cell['policy']} on {cell['problem']} "
        f"(horizon {cell['horizon']}, {cell['trials']} trials, seed {cell['seed']}): {cell['status']}"
        + (f", {cell['reason']}" if cell.get("reason") else "")
        for cell in table.not_shown
    ]


Cell = Callable[[GridEntry], str]  # how a format writes one number

BEST = "best, or cannot be told from the best"


def mark(entry: GridEntry) -> str:
    """The sign that says whether a number agrees with the paper's; empty where nothing is compared."""
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


_IDENTITY = ("policy", "problem", "horizon", "seed", "trials")


def unfinished(records: list[Record]) -> list[dict[str, Any]]:
    """The cells that were tried and are not done, with status and reason, unless a twin of another version is done."""
    done = {_identity(record) for record in records if record.is_done}
    return [
        {name: getattr(record, name) for name in (*_IDENTITY, "cell", "status", "reason")}
        for record in records
        if not record.is_done and _identity(record) not in done
    ]


def _identity(record: Record) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _IDENTITY)
