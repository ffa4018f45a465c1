"""One table in five formats: text for a terminal, Markdown, LaTeX (booktabs), CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from showdown.report.tables import Entry, Grid, Table, agreement_line, grid, not_shown_lines, records

Cell = Callable[[Entry], str]  # how a format writes one number

_MARKS = {True: " ✓", False: " ✗", None: ""}


def footer(table: Table) -> list[str]:
    """What a reader must know besides the numbers; the count of agreement comes last."""
    lines = [*table.notes, *not_shown_lines(table)]
    return [*lines, agreement_line(table)] if table.is_compared else lines


def text(table: Table, width: int | None = None) -> str:
    """Aligned columns; `*` marks the best. Columns that do not fit into `width` continue in a second block."""
    content = grid(table)
    names = ["policy", *(policy for policy, _ in content.body)]
    stub = _pad(names, left=True)
    columns = []
    for number, heading in enumerate(content.headings):
        entries = [cells[number] for _, cells in content.body]
        column = _pad([heading + " ", *((entry.ours or "–") + ("*" if entry.best else " ") for entry in entries)])
        if table.is_compared:
            paper = _pad(["paper", *(entry.paper or "–" for entry in entries)])
            marks = _pad(["", *(_MARKS[entry.agrees] for entry in entries)], left=True)
            column = [" ".join(parts[:2]) + parts[2] for parts in zip(column, paper, marks, strict=True)]
        columns.append(column)
    blocks = [_block([stub, *some]) for some in _fitting(columns, len(stub[0]), width)]
    legend = "* best of its column" + ("; ✓ agrees with the paper, ✗ does not" if table.is_compared else "")
    return "\n".join([table.title, "", "\n\n".join(blocks), legend, *footer(table)])


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


def markdown(table: Table) -> str:
    def ours(entry: Entry) -> str:
        return f"**{entry.ours}**" if entry.best else entry.ours or "–"

    def paper(entry: Entry) -> str:
        return (entry.paper or "–") + _MARKS[entry.agrees]

    lines = _lines(table, grid(table), escape_markdown, ours, paper)
    lines.insert(1, ["---", *["---:"] * (len(lines[0]) - 1)])
    parts = [escape_markdown(table.title), "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join([*parts, *map(escape_markdown, footer(table))])


def _lines(table: Table, content: Grid, escape: Callable[[str], str], ours: Cell, paper: Cell) -> list[list[str]]:
    """The heading and a line per policy; a column of the paper's numbers beside each of ours when they are compared."""
    beside = [paper] if table.is_compared else []
    return [
        ["policy", *(part for heading in content.headings for part in [escape(heading), *["paper"] * len(beside)])],
        *(
            [escape(policy), *(write(entry) for entry in entries for write in [ours, *beside])]
            for policy, entries in content.body
        ),
    ]


def escape_markdown(words: str) -> str:
    for letter in "\\|*_`[]$":
        words = words.replace(letter, "\\" + letter)
    return words.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


WIDE = 5  # columns of numbers that fit a page in the letters of the text


def latex(table: Table) -> str:
    """A `table` for a document that loads booktabs, and amssymb for the marks of agreement."""

    def ours(entry: Entry) -> str:
        if not entry.ours:
            return "--"
        return rf"$\mathbf{{{entry.ours}}}$" if entry.best else f"${entry.ours}$"

    def paper(entry: Entry) -> str:
        mark = {True: r" \checkmark", False: r" \times", None: ""}[entry.agrees]
        return f"${entry.paper}{mark}$" if entry.paper else "--"

    heading, *body = (
        " & ".join(line) + r" \\" for line in _lines(table, grid(table, plus_minus=r" \pm "), escape_latex, ours, paper)
    )
    columns = heading.count(" & ")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}" + (r" and \usepackage{amssymb}" if table.is_compared else ""),
            r"\begin{table}[ht]",
            rf"\caption{{{escape_latex(table.title)}}}",
            r"\centering",
            *([r"\footnotesize\setlength{\tabcolsep}{3pt}"] if columns > WIDE else []),
            rf"\begin{{tabular}}{{l{'r' * columns}}}",
            r"\toprule",
            heading,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            *("% " + line.replace("\n", " ") for line in footer(table)),
        ]
    )


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "[": "{[}",  # after a line's \\ it would be read as an argument
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}


def escape_latex(words: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in words.replace("\n", " "))


def csv(table: Table) -> str:
    """Tidy rows, the same fields as in JSON."""
    return pd.DataFrame(records(table), dtype=object).to_csv(index=False)


def json_value(table: Table) -> dict[str, Any]:
    """Tidy rows in an object, with the count of agreement when held against the paper."""
    value: dict[str, Any] = {"title": table.title, "rows": records(table)}
    if table.is_compared:
        value |= table.agreement
    return {**value, "notes": table.notes, "not_shown": table.not_shown}
