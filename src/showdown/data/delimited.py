"""Delimited text of any common kind: finding the separator and the header, then reading.

Both are guessed from the first lines, and both guesses can be overruled.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from showdown.basics.errors import UsageError
from showdown.data.find_header import COMMENT, count_comment_lines, fits_as_row, has_header
from showdown.data.formats import MISSING

if TYPE_CHECKING:
    import pandas as pd

DelimiterName = Literal["auto", "comma", "semicolon", "tab", "pipe", "space"]
Header = Literal["auto", "yes", "no"]

CHARACTERS = {"tab": "\t", "semicolon": ";", "comma": ",", "pipe": "|", "space": " "}
SAMPLE_ROWS = 200
CONSISTENT = 0.5  # share of the first rows that must have one number of fields for a delimiter to be believed


class Dialect(NamedTuple):
    delimiter: str  # a key of CHARACTERS
    header: bool  # whether the first line is not one of the rows
    named: bool  # whether it names the columns; a line of another width does not
    names: tuple[str, ...]  # of the columns
    decimal: str  # "," where numbers are written 3,14
    lines_above: int = 0  # comment lines above the table
    header_above: bool = False  # whether the last of those is the header

    def in_words(self) -> str:
        """The dialect in words, for a person."""
        header = "with a header" if self.named else "without a header"
        if self.header and not self.named:
            header += ", the first line left out because it does not fit the columns"
        comments = self.lines_above - self.header_above
        skipped = f", {comments} comment line{'s' if comments > 1 else ''} above it skipped" if comments else ""
        return f"{self.delimiter}-separated, {header}{skipped}{', decimal comma' if self.decimal == ',' else ''}"


def sniff(sample: str, delimiter: DelimiterName = "auto", header: Header = "auto") -> Dialect:
    """How `sample`, the first whole lines of a file, is written."""
    for option, value, allowed in (("delimiter", delimiter, DelimiterName), ("header", header, Header)):
        if value not in get_args(allowed):
            raise UsageError(f"{option} must be one of {', '.join(get_args(allowed))}, not {value!r}")
    lines_above = count_comment_lines(sample)
    if not lines_above:
        return _sniff(sample, delimiter, header)
    lines = list(io.StringIO(sample, newline=""))
    body = _sniff("".join(lines[lines_above:]), delimiter, header)
    above = _rows(lines[lines_above - 1].replace(COMMENT, "", 1), body.delimiter)
    rows = _rows("".join(lines[lines_above:]), body.delimiter)
    if header == "no" or not above or len(above[0]) != len(body.names) or has_header(rows):
        return body._replace(lines_above=lines_above)
    if has_header([above[0], *rows]):
        body = _sniff("".join(lines[lines_above:]), delimiter, "no")
        return body._replace(
            header=True, named=True, names=unique_names(above[0]), lines_above=lines_above, header_above=True
        )
    if fits_as_row([COMMENT + above[0][0], *above[0][1:]], rows):  # text of the first column that begins with #
        return _sniff(sample, delimiter, header)
    return body._replace(lines_above=lines_above)


def _sniff(sample: str, delimiter: DelimiterName, header: Header) -> Dialect:
    """How `sample` is written, where no comment lines stand above it."""
    chosen = _delimiter(sample) if delimiter == "auto" else delimiter
    rows = _rows(sample, chosen)
    width = _width(rows)
    if not rows:
        raise UsageError("it has no rows")
    fits = len(rows[0]) in (width, width - 1)  # one less where the first column holds row names
    begins = not fits or has_header(rows) if header == "auto" else header == "yes"
    body = rows[1:] if begins else rows
    if not body:
        raise UsageError("it has a header and no rows")
    named = begins and fits
    names = [*[""] * (width - len(rows[0])), *rows[0]] if named else [""] * width
    decimal = "," if chosen == "semicolon" and _decimal_comma(body) else "."
    return Dialect(chosen, begins, named, unique_names(names), decimal)


def read(stream: IO[str], dialect: Dialect) -> pd.DataFrame:
    """The table written in `dialect`."""
    for _ in range(dialect.lines_above):
        stream.readline()
    if dialect.header and not dialect.named:
        while not stream.readline().strip():
            pass
    return parse(
        stream,
        dialect.names,
        sep=r"\s+" if dialect.delimiter == "space" else CHARACTERS[dialect.delimiter],
        header=0 if dialect.named and not dialect.header_above else None,
        decimal=dialect.decimal,
    )


def parse(stream: IO[str], names: tuple[str, ...], **options: Any) -> pd.DataFrame:
    """pandas' reader with our missing values; stray spaces go, and a row with too many fields is an error."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # pandas would warn, and cut the row short
            frame = pd.read_csv(
                stream,
                names=list(names),
                index_col=False,
                na_values=sorted(MISSING),
                keep_default_na=False,
                skipinitialspace=True,
                low_memory=False,
                **options,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        if "EOF inside string" in str(error):
            raise UsageError("a quote is opened in it and never closed") from error
        where = re.search(r"in line \d+", str(error))
        raise UsageError(
            f"not every row has its {len(names)} fields" + (f"; the first with more is {where[0]}" if where else "")
        ) from error
    return with_tidy_text(frame)


def with_tidy_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Stray spaces removed, and text that means a missing value made missing."""
    import pandas as pd

    for name in frame.columns:
        if pd.api.types.infer_dtype(frame[name], skipna=True) == "string":
            stripped = frame[name].str.strip()
            frame[name] = stripped.where(~stripped.isin(MISSING), np.nan)
    return frame


def unique_names(names: list[str]) -> tuple[str, ...]:
    """A name for each column: its own, `column_3` where it has none, `name.1` where another has it already."""
    unique: list[str] = []
    for position, name in enumerate(names):
        name = base = " ".join(name.split()) or f"column_{position}"
        number = 0
        while name in unique:
            number += 1
            name = f"{base}.{number}"
        unique.append(name)
    return tuple(unique)


def _rows(sample: str, delimiter: str) -> list[list[str]]:
    if delimiter == "space":
        sample = re.sub(r"[ \t]+", " ", re.sub(r"^[ \t]+|[ \t]+$", "", sample, flags=re.MULTILINE))
    reader = csv.reader(io.StringIO(sample), delimiter=CHARACTERS[delimiter], skipinitialspace=True)
    rows = []
    try:
        for row in reader:
            if row:
                rows.append([cell.strip() for cell in row])
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:  # a stray quote or an endless field: what was read before it is sample enough
        pass
    return rows


def _width(rows: list[list[str]]) -> int:
    """The usual number of fields."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def _delimiter(sample: str) -> str:
    """The character that gives the most rows the same number of fields.

    On a tie a tab or semicolon wins (commas are then decimal commas, or text), else whichever gives more fields.
    Spaces are tried last, because text contains them too.
    """
    best, best_score = "comma", (CONSISTENT, 0, 0)
    for name in CHARACTERS:
        rows = _rows(sample, name)
        width = _width(rows)
        if width < 2 or (name == "space" and best_score[2]):
            continue
        agreeing = sum(len(row) == width for row in rows) + (len(rows[0]) == width - 1)
        score = (agreeing / len(rows), int(name in ("tab", "semicolon")), width)
        if score > best_score:
            best, best_score = name, score
    return best


def _decimal_comma(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    comma = any(re.fullmatch(r"[+-]?\d+,\d+", cell) for cell in cells)
    point = any(re.fullmatch(r"[+-]?\d*\.\d+", cell) for cell in cells)
    return comma and not point
