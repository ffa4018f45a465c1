"""A Markdown table; the best of a column is in bold."""

from __future__ import annotations

from showdown.analysis.table import Table
from showdown.basics.text import one_line
from showdown.report.grid import GridEntry, footer, grid, legend, lines, mark


def write(table: Table, width: int | None = None) -> str:
    def ours(entry: GridEntry) -> str:
        return f"**{entry.ours}**" if entry.best else entry.ours or "–"

    def paper(entry: GridEntry) -> str:
        return (entry.paper or "–") + mark(entry)

    rows = lines(table, grid(table), escape, ours, paper)
    rows.insert(1, ["---", *["---:"] * (len(rows[0]) - 1)])
    parts = [escape(table.title), "\n".join(f"| {' | '.join(row)} |" for row in rows)]
    below = [line for line in [legend(table, "Bold:")] if line]
    return "\n\n".join([*parts, *map(escape, [*below, *footer(table)])])


def escape(words: str) -> str:
    words = one_line(words)
    for letter in "\\|*_`[]$":
        words = words.replace(letter, "\\" + letter)
    return words.replace("&", "&amp;").replace("<", "&lt;")
