"""Text from outside (a column's name, a stored record, a file's name): shown harmlessly, or refused as a name.

A terminal obeys control characters: they move the cursor, hide or forge lines, set the window's title. So output shows
them as `\\u001b`, which is also how JSON writes them.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterable
from pathlib import PurePath

from showdown.basics.errors import UsageError

LONGEST_NAME = 200
LONGEST_SPELLING = 4000  # of a name with its overrides, which may hold the path of a file

# control characters, those that reverse the direction of writing, line and paragraph ends, halves of a surrogate pair
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_HARMFUL = re.compile(f"[{_CONTROLS}]")
_NOT_IN_A_NAME = re.compile(rf"[\t\n{_CONTROLS}]")


def printable(text: str) -> str:
    """`text` with what a terminal would obey written out; line feeds and tabs stay."""
    return _HARMFUL.sub(_written_out, text)


def printable_name(text: str) -> str:
    """A stored name made printable. Line ends are written out too, so that two names stay two."""
    return _NOT_IN_A_NAME.sub(_written_out, text)


def one_line(text: str) -> str:
    """The same on a single line: line ends of every kind, and tabs, become spaces."""
    return printable(" ".join(text.splitlines()).replace("\t", " "))


def _written_out(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def check_name(noun: str, text: str, longest: int = LONGEST_NAME) -> None:
    """Refuse a name that would not fit in a line of a table, or that would not stay in it."""
    if len(text) > longest:
        raise UsageError(f"{noun} may have at most {longest} characters, and {text[:20]!r}… has {len(text)}")
    found = _NOT_IN_A_NAME.search(text)
    if found:
        raise UsageError(f"{noun} may not hold line ends or control characters: {found[0]!r} in {text[:100]!r}")


def plain_name(name: str) -> str:
    """The name without brackets and commas, which mean something in a list of problems."""
    return re.sub(r"[\[\],]", "-", name)


def name_of_file(path: str) -> str:
    """What a table in a file is called: the file's name without its endings; `table` where there is no file."""
    return plain_name(PurePath(path).name.split(".")[0]) or "table"


def plus_joined(names: str | Iterable[object]) -> str:
    """Names of columns as one text, `a+b`, from a text that is one already, or from a list of them."""
    return names if isinstance(names, str) else "+".join(map(str, names))


SCREEN = 110  # letters of a line that an object prints
MOST_LINES = 40


def wrapped(sentences: Iterable[str], width: int = SCREEN, most: int = MOST_LINES) -> str:
    """Sentences as lines that fit a screen, each beginning on a line of its own; what is too much is counted."""
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, width, break_long_words=False)]
    more = [f"… and {len(lines) - most + 1} more lines"] if len(lines) > most else []
    return "\n".join(lines[: most - len(more)] + more)


def near(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that nobody knows: the one that may be meant, if there is one."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
