"""One table in five formats: text for a terminal, Markdown, LaTeX (booktabs), CSV and JSON."""

from __future__ import annotations

from typing import Any

import pandas as pd

from showdown.report.tables import Entry, Table, agreement_line, grid, not_shown_lines, records

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
    content = grid(table)

    def cell(entry: Entry) -> list[str]:
        ours = f"**{entry.ours}**" if entry.best else entry.ours or "–"
        return [ours, (entry.paper or "–") + _MARKS[entry.agrees]] if table.is_compared else [ours]

    headings = ["policy"]
    for heading in content.headings:
        headings += [escape_markdown(heading), "paper"] if table.is_compared else [escape_markdown(heading)]
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)]]
    lines += [[escape_markdown(name), *(part for entry in cells for part in cell(entry))] for name, cells in content.body]
    parts = [escape_markdown(table.title), "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join([*parts, *map(escape_markdown, footer(table))])


def escape_markdown(words: str) -> str:
    for letter in "\\|*_`":
        words = words.replace(letter, "\\" + letter)
    return words.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


def latex(table: Table) -> str:
    """A `table` for a document that loads booktabs; with the paper's numbers, ours above and theirs below."""
    content = grid(table, plus_minus=r" \pm ")

    def ours(entry: Entry) -> str:
        if not entry.ours:
            return "--"
        return rf"$\mathbf{{{entry.ours}}}$" if entry.best else f"${entry.ours}$"

    def theirs(entry: Entry) -> str:
        if not entry.paper:
            return "--"
        return f"${entry.paper}$" + {True: r" $\checkmark$", False: r" $\times$", None: ""}[entry.agrees]

    lines = []
    for policy, cells in content.body:
        lines.append(" & ".join([escape_latex(policy), *map(ours, cells)]) + r" \\")
        if table.is_compared:
            lines.append(" & ".join([r"\quad paper", *map(theirs, cells)]) + r" \\")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}" + (r" and \usepackage{amssymb}" if table.is_compared else ""),
            r"\begin{table}[ht]",
            rf"\caption{{{escape_latex(table.title)}}}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * len(content.headings)}}}",
            r"\toprule",
            " & ".join(["policy", *map(escape_latex, content.headings)]) + r" \\",
            r"\midrule",
            *lines,
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
        value["agreement"] = dict(zip(("agree", "compared"), table.agreement, strict=True))
    return {**value, "notes": table.notes, "not_shown": table.not_shown}
