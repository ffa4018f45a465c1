"""A table in HTML, without styles of its own, as a notebook shows it; the best of a column is in bold."""

from __future__ import annotations

import html

from showdown.analysis.table import Table
from showdown.basics.text import one_line
from showdown.report.grid import GridEntry, footer, grid, legend, lines, mark


def write(table: Table, width: int | None = None) -> str:
    def ours(entry: GridEntry) -> str:
        return f"<b>{escape(entry.ours)}</b>" if entry.best else escape(entry.ours or "–")

    def paper(entry: GridEntry) -> str:
        return escape((entry.paper or "–") + mark(entry))

    heading, *body = lines(table, grid(table), escape, ours, paper)
    rows = [_row("th", heading), *(_row("td", line) for line in body)]
    below = [line for line in [legend(table, "Bold:"), *footer(table)] if line]
    return "\n".join(
        [
            f"<table>\n<caption>{escape(table.title)}</caption>",
            f"<thead>{rows[0]}</thead>",
            "<tbody>",
            *rows[1:],
            "</tbody>\n</table>",
            *(f"<p>{escape(line)}</p>" for line in below),
        ]
    )


def _row(tag: str, cells: list[str]) -> str:
    first, *rest = cells
    return (
        f'<tr><th align="left">{first}</th>'
        + "".join(f'<{tag} align="right">{cell}</{tag}>' for cell in rest)
        + "</tr>"
    )


def escape(words: str) -> str:
    return html.escape(one_line(words))
