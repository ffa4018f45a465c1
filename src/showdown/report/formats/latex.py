"""A `table` for a LaTeX document that loads booktabs, and amssymb for the marks of agreement."""

from __future__ import annotations

from showdown.analysis.published import AGREES, DIFFERS, NOISY
from showdown.analysis.table import Table
from showdown.basics.text import one_line
from showdown.report.grid import BEST, GridEntry, footer, grid, legend, lines

MARKS = {AGREES: r" \checkmark", DIFFERS: r" \times", NOISY: r" \approx", None: ""}
WIDE = 5  # columns of numbers that fit a page in the letters of the text


def write(table: Table, width: int | None = None) -> str:
    def ours(entry: GridEntry) -> str:
        if not entry.ours:
            return "--"
        return rf"$\mathbf{{{entry.ours}}}$" if entry.best else f"${entry.ours}$"

    def paper(entry: GridEntry) -> str:
        mark = r" \neq" if entry.not_compared else MARKS[entry.finding]
        return f"${entry.paper}{mark}$" if entry.paper else "--"

    content = grid(table, plus_minus=r" \pm ")
    heading, *body = (" & ".join(line) + r" \\" for line in lines(table, content, escape, ours, paper))
    columns = heading.count(" & ")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}" + (r" and \usepackage{amssymb}" if table.is_compared else ""),
            r"\begin{table}[ht]",
            rf"\caption{{{escape(_caption(table))}}}",
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
            *("% " + one_line(line) for line in [legend(table, "bold:"), *footer(table)] if line),
        ]
    )


def _caption(table: Table) -> str:
    """The title, and what bold means where something is bold."""
    return f"{table.title}. Bold: {BEST}." if any(table.best.values()) else table.title


_ESCAPES = {
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


def escape(words: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in one_line(words))
