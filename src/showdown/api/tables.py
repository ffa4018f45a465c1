"""The table of some cells: what `Results`, `showdown table` and the end of `showdown run` show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showdown.analysis.build_table import build_table
from showdown.analysis.selection import select
from showdown.analysis.table import Table, TableRequest, in_layout, in_table
from showdown.api.cells import Cells
from showdown.bench.record import Record
from showdown.policies import policies
from showdown.problems import problems
from showdown.report.grid import unfinished


def request_for(**asked: Any) -> TableRequest:
    """What a table is to show, with the order in which policies and problems are listed."""
    return TableRequest(**asked, known_policies=policies.names(), known_problems=problems.names())


def table_of(
    cells: Cells, request: TableRequest, filters: Mapping[str, int | None] | None = None, paper: str | None = None
) -> Table:
    """The table of the cells that `filters` (horizon, seed, trials) let through, in one of the paper's layouts."""
    filters = filters or {}
    records, selection = cells.records, select(cells.frame, **filters)
    if paper is not None:
        selection, request = in_layout(paper, selection, request)
        records = [record for record in records if in_table(paper, record.policy)]
    table = build_table(selection, request, cells.details)
    table.not_shown.extend(_unfinished(records, request, filters))
    return table


def _unfinished(
    records: list[Record], request: TableRequest, filters: Mapping[str, int | None]
) -> list[dict[str, Any]]:
    """Cells that were asked for and did not finish."""
    asked = {"policy": request.policies, "problem": request.problems}
    return [
        cell
        for cell in unfinished(records)
        if all(names is None or cell[name] in names for name, names in asked.items())
        and all(value is None or cell[name] == value for name, value in filters.items())
    ]
