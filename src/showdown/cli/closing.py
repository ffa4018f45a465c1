"""What a run ends with: the verdict about the cells that were asked for, and their table with the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.cli import console

if TYPE_CHECKING:
    from showdown.analysis.table import Table
    from showdown.bench.cell import Cell
    from showdown.bench.store import Store


def closing_table(store: Store, cells: list[Cell]) -> Table | None:
    """Of the finished cells of a run, and nothing else that the store holds; None if there is no such cell."""
    from showdown.analysis.build_table import build_table
    from showdown.analysis.play_details import play_details
    from showdown.analysis.selection import select
    from showdown.analysis.table import TableRequest

    records = store.cells()
    frame = store.frame(records)
    mine = frame[frame["cell"].isin([cell.hash for cell in cells])] if len(frame) else frame
    if mine.empty:
        return None
    mine = mine[mine["policy"].isin([cell.policy_name for cell in cells])]
    details = play_details(store, records, mine["cell"])
    problems = list(dict.fromkeys(mine["problem"]))
    several = len(problems) > 1
    request = TableRequest(rank=several, sort="rank" if several else problems[0])
    return build_table(select(mine), request, details)


def print_table(table: Table) -> None:
    """As text that fits the terminal, with colours there; plain elsewhere."""
    from showdown.report.formats import text

    console.data_table(text.parts(table, console.width()))
