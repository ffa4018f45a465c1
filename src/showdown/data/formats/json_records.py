"""JSON: one object per line (JSONL), or one array of objects. Nested objects become columns called `outer.inner`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.delimited import with_tidy_text
from showdown.data.formats import TextFormat, first_line
from showdown.data.in_memory import as_frame

_MOST_DIGITS = 300  # of a whole number; from 309 on a float cannot hold it
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")  # the writing of one, maybe one of a whole pair
_SURROGATE = re.compile("[\ud800-\udfff]")  # after reading: pairs have become one character
_ADVICE = "write one object per line, or one array of objects"


def is_json(text: str) -> bool:
    """Whether the text begins as JSON does: an object or an array, on one line or over several."""
    text = text.lstrip()
    if re.match(r'\{\s*("|\}|$)|\[\s*([\[{\]]|$)', text):
        return True
    return text.startswith("[") and isinstance(_parsed(text.split("\n", 1)[0]), list)


def read(text: str) -> pd.DataFrame:
    rows = list(_rows(text.strip()))
    if not rows:
        raise UsageError("it is JSON and has no rows")
    if _HALF_PAIR.search(text):
        rows = _mended(rows)
    wrong = next((number for number, row in enumerate(rows, 1) if not isinstance(row, dict)), None)
    if wrong is not None:
        raise UsageError(f"it is JSON, and its row {wrong} is not an object with names; {_ADVICE}")
    if any(isinstance(value, dict) for row in rows for value in row.values()):
        frame = pd.json_normalize(rows)
    else:
        frame = pd.DataFrame(rows)
    return with_tidy_text(as_frame(frame))


def _rows(text: str) -> Iterator[Any]:
    if text.startswith("[") and isinstance(whole := _parsed(text), list):
        yield from whole
        return
    if isinstance(_parsed(text), dict):
        raise UsageError(f"it is a single JSON object and not rows; {_ADVICE}")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line, parse_int=_whole)
            except (ValueError, RecursionError) as error:
                raise UsageError(
                    f"it begins as JSON does and cannot be read in line {number} ({first_line(error)}); {_ADVICE}"
                ) from error


def _parsed(text: str) -> Any:
    """The JSON value that the whole text is, or None."""
    try:
        return json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError):
        return None


def _whole(text: str) -> int | str:
    """A whole number; one that no float holds stays text."""
    return int(text) if len(text) <= _MOST_DIGITS else text


def _mended(value: Any) -> Any:
    """The same with U+FFFD, the sign for what cannot be read, in the place of each half of a surrogate pair."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mended(name): _mended(held) for name, held in value.items()}
    return [_mended(each) for each in value] if isinstance(value, list) else value


FORMAT = TextFormat("JSON", is_json, read)
