"""Where the rows of delimited text begin: comment lines above them, and whether the first line names the columns."""

from __future__ import annotations

import io
import re

from showdown.data.formats import MISSING

COMMENT = "#"


def count_comment_lines(sample: str) -> int:
    """Lines above the table that are comments, blank ones between them included.

    Lines that begin with # count only where no later line of the sample does: a column may hold such text.
    """
    if not _is_comment(sample):
        return 0
    count, ended = 0, False
    for number, line in enumerate(io.StringIO(sample, newline=""), 1):
        if _is_comment(line):
            if ended:
                return 0
            count = number
        elif line.strip():
            ended = True
    return count if ended else 0


def _is_comment(text: str) -> bool:
    text = text.lstrip()
    return text.startswith(COMMENT) and not text.startswith("#N/A")  # a missing value, as spreadsheets write it


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: words unlike the values below them; numbers only where they count up.

    A cell such as $5 or 31/01/2024 above others of the kind is a value, and no name.
    """
    first = [cell for cell in rows[0] if cell not in MISSING]
    if len(first) < len(rows[0]) / 2:
        return False
    below = _below(rows)
    if any(_is_figure(cell) and _holds_figures(column) for cell, column in zip(rows[0], below, strict=True)):
        return False
    counted = [cell for cell in first if is_number(cell)]
    if counted:
        return _is_numbered_header(rows[0], counted, below)
    if any(cell not in MISSING and _holds_numbers(column) for cell, column in zip(rows[0], below, strict=True)):
        return True
    recurs = any(cell in column for cell, column in zip(rows[0], below, strict=True) if cell)
    return not recurs and len(set(first)) == len(first)


def fits_as_row(cells: list[str], rows: list[list[str]]) -> bool:
    """Whether `cells` could be one more of the rows: a number, or nothing, wherever they all have one."""
    if len(cells) != len(rows[0]):
        return False
    columns = _below([cells, *rows])
    return all(
        is_number(cell) or cell in MISSING or not _holds_numbers(column)
        for cell, column in zip(cells, columns, strict=True)
    )


def is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _is_numbered_header(cells: list[str], counted: list[str], below: list[list[str]]) -> bool:
    """Whether this is a header such as `0,1,2,target`, of columns that were numbered and one that was named.

    There are two numbers or more, which count up by one, from 0 or 1 unless there are at least three. No word
    occurs below itself, and one of them stands above numbers, dates and the like, or words that recur.
    """
    if len(counted) < 2 or not all(re.fullmatch(r"\d+", cell) for cell in counted):
        return False
    start = int(counted[0])
    if [int(cell) for cell in counted] != list(range(start, start + len(counted))):
        return False
    if start > 1 and len(counted) < 3:
        return False
    words = [
        (cell, column) for cell, column in zip(cells, below, strict=True) if cell not in MISSING and not is_number(cell)
    ]
    if any(cell in column for cell, column in words):
        return False
    return any(
        _holds_numbers(column) or _holds_figures(column) or len(set(column)) < len(column) for _, column in words
    )


def _below(rows: list[list[str]]) -> list[list[str]]:
    """What stands below each cell of the first row."""
    offset = 1 if len(rows) > 1 and len(rows[0]) == len(rows[1]) - 1 else 0  # row names without a header
    columns: list[list[str]] = [[] for _ in rows[0]]
    for row in rows[1:]:
        for position, cell in enumerate(row[offset : offset + len(columns)]):
            columns[position].append(cell)
    return columns


def _holds_numbers(column: list[str]) -> bool:
    values = set(column) - MISSING
    return bool(values) and all(map(is_number, values))


def _is_figure(text: str) -> bool:
    """Money, a date, a time and the like: digits and no letter, and not a plain number."""
    return any(map(str.isdigit, text)) and not any(map(str.isalpha, text)) and not is_number(text)


def _holds_figures(column: list[str]) -> bool:
    values = set(column) - MISSING
    return any(map(_is_figure, values)) and all(_is_figure(value) or is_number(value) for value in values)
