"""Where the rows of delimited text begin: comment lines above them, and whether the first line names the columns."""

from __future__ import annotations

import io
import re

from showdown.data.missing_text import MISSING

COMMENT = "#"


def count_comment_lines(sample: str) -> int:
    """Lines above the table that are comments, blank ones between them included.

    Lines that begin with # count only where no later line of the sample does: a column may hold such text.
    """
    if not sample.lstrip().startswith(COMMENT):
        return 0
    count, ended = 0, False
    for number, line in enumerate(io.StringIO(sample, newline=""), 1):
        if line.lstrip().startswith(COMMENT):
            if ended:
                return 0
            count = number
        elif line.strip():
            ended = True
    return count if ended else 0


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: words unlike the values below them; numbers only where they count up."""
    first = [cell for cell in rows[0] if cell not in MISSING]
    if len(first) < len(rows[0]) / 2:
        return False
    below = _below(rows)
    counted = [cell for cell in first if is_number(cell)]
    if counted:
        return _is_numbered_header(rows[0], counted, below)
    if any(_holds_numbers(column) for column in below):
        return True
    recurs = any(cell in column for cell, column in zip(rows[0], below, strict=True) if cell)
    return not recurs and len(set(first)) == len(first)


def fits_as_row(cells: list[str], rows: list[list[str]]) -> bool:
    """Whether `cells` could be one more of the rows: a number wherever they all have one."""
    if len(cells) != len(rows[0]):
        return False
    columns = _below([cells, *rows])
    return all(is_number(cell) or not _holds_numbers(column) for cell, column in zip(cells, columns, strict=True))


def is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _is_numbered_header(cells: list[str], counted: list[str], below: list[list[str]]) -> bool:
    """Whether this is a header such as `0,1,2,target`, of columns that were numbered and one that was named.

    The numbers count up by one, from 0 or 1 unless there are at least three. Every word stands above numbers, or above
    words that recur and do not include it. A single number proves less, so a word must then stand above numbers.
    """
    if not all(re.fullmatch(r"\d+", cell) for cell in counted):
        return False
    start = int(counted[0])
    if [int(cell) for cell in counted] != list(range(start, start + len(counted))):
        return False
    if start > 1 and len(counted) < 3:
        return False
    words = [(cell, column) for cell, column in zip(cells, below, strict=True) if cell and not is_number(cell)]
    above_numbers = [_holds_numbers(column) for _, column in words]
    if len(counted) == 1 and not any(above_numbers):
        return False
    above_words = [cell not in column and len(set(column)) < len(column) for cell, column in words]
    return bool(words) and all(numbers or other for numbers, other in zip(above_numbers, above_words, strict=True))


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
