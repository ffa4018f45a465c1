"""Aligned columns for a terminal; `*` marks the best."""

from __future__ import annotations

import textwrap

from showdown.analysis.table import Table
from showdown.basics.text import one_line
from showdown.report.grid import TABLE, Line, footer_lines, grid, legend, mark


def write(table: Table, width: int | None = None) -> str:
    """The whole text. Columns that do not fit into `width` continue in a second block."""
    return "\n".join(part.text for part in parts(table, width))


def parts(table: Table, width: int | None = None) -> list[Line]:
    """The text in parts, each with its kind: the numbers and what their marks mean, then the notes."""
    content = grid(table)
    stub = _pad(["policy", *(policy for policy, _ in content.body)], left=True)
    columns = []
    for number, heading in enumerate(content.headings):
        entries = [cells[number] for _, cells in content.body]
        column = _pad([heading + " ", *((entry.ours or "–") + ("*" if entry.best else " ") for entry in entries)])
        if table.is_compared:
            paper = _pad(["paper", *(entry.paper or "–" for entry in entries)])
            agreement = _pad(["", *(mark(entry) for entry in entries)], left=True)
            column = [" ".join(three[:2]) + three[2] for three in zip(column, paper, agreement, strict=True)]
        columns.append(column)
    blocks = [_block([stub, *some]) for some in _fitting(columns, len(stub[0]), width)]
    marks = [wrapped(one_line(line), width) for line in [legend(table, "*")] if line]
    numbers = "\n".join([one_line(table.title), "", "\n\n".join(blocks), *marks])
    notes = [Line(wrapped(one_line(line.text), width), line.kind) for line in footer_lines(table) if line.text]
    return [Line(numbers, TABLE), *notes]


def wrapped(line: str, width: int | None) -> str:
    """A sentence in lines of at most `width` letters, broken at spaces."""
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(line, max(width, 20), break_long_words=False, break_on_hyphens=False)


def _pad(cells: list[str], left: bool = False) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]


def _block(columns: list[list[str]]) -> str:
    lines = ["  ".join(parts).rstrip() for parts in zip(*columns, strict=True)]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def _fitting(columns: list[list[str]], stub: int, width: int | None) -> list[list[list[str]]]:
    """Share the columns out over blocks of at most `width` letters, at least one column each."""
    blocks: list[list[list[str]]] = [[]]
    used = stub
    for column in columns:
        needed = len(column[0]) + 2
        if width is not None and blocks[-1] and used + needed > width:
            blocks.append([])
            used = stub
        blocks[-1].append(column)
        used += needed
    return blocks
