"""ARFF, and the dialect of it that KEEL writes (`@attribute Age integer [0, 99]`, `@inputs`, `@outputs`, `<null>`)."""

from __future__ import annotations

import io
import re

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data import delimited
from showdown.data.formats import TextFormat

NUMERIC = ("numeric", "real", "integer")

# @attribute, a name (bare or quoted), and the rest: a type word or {a set of values}
_ATTRIBUTE = re.compile(r"""@attribute\s+(?P<name>'[^']*'|"[^"]*"|[^\s{]+)\s*(?P<kind>\{.*|\S+)""", re.IGNORECASE)

_OUTPUT = re.compile(r"^\s*@outputs?\s+(?P<name>[^\n]+)", re.IGNORECASE | re.MULTILINE)  # KEEL's name of the label


def is_arff(text: str) -> bool:
    """Whether the text begins as an ARFF or KEEL file does, comments aside."""
    return re.match(r"\s*(%[^\n]*\n\s*)*@relation\b", text, re.IGNORECASE) is not None


def read(text: str) -> pd.DataFrame:
    """The rows after @data, named by the @attribute lines; what those declare a set of values is categorical."""
    head, marker, body = _parted(text)
    if not marker:
        raise UsageError("it begins as an ARFF file does and has no @data line")
    names, kinds = _attributes(head)
    lines = [line for line in body.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    if not lines:
        raise UsageError("it has no rows after @data")
    if lines[0].lstrip().startswith("{"):
        raise UsageError("it is a sparse ARFF file ({index value, …} rows), which is not read; write it as CSV")
    frame = delimited.parse(
        io.StringIO("\n".join(lines)),
        names,
        sep="\t" if "\t" in lines[0] and "," not in lines[0] else ",",
        header=None,
        dtype="object",
        quotechar="'" if any("'" in line for line in lines) else '"',
        escapechar="\\",
    )
    for name, kind in zip(names, kinds, strict=True):
        if kind.startswith("{"):
            frame[name] = frame[name].astype("category")
        elif kind.startswith(NUMERIC):
            frame[name] = _numbers(frame[name], kind)
    output = _OUTPUT.search(head)
    if output and output["name"].strip() in names:  # one, and not several
        frame.attrs["output"] = output["name"].strip()
    return frame


def _attributes(head: str) -> tuple[tuple[str, ...], list[str]]:
    """Names and declared types, in order."""
    names, kinds = [], []
    for line in map(str.strip, head.splitlines()):
        if not line.lower().startswith("@attribute"):
            continue
        found = _ATTRIBUTE.match(line)
        if found is None:
            raise UsageError(f"it has an attribute line that cannot be read: {line!r}")
        names.append(found["name"].strip("'\""))
        kinds.append(found["kind"].lower())
    if not names:
        raise UsageError("it begins as an ARFF file does and declares no @attribute")
    return delimited.unique_names(names), kinds


def _numbers(column: pd.Series, kind: str) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    wrong = column[numbers.isna() & column.notna()]
    if len(wrong):
        raise UsageError(f"its attribute {column.name!r} is declared {kind} and holds {wrong.iloc[0]!r}")
    return numbers


def _parted(text: str) -> tuple[str, str, str]:
    parts = re.split(r"^\s*(@data)\b[^\n]*\n?", text, maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else (text, "", "")


FORMAT = TextFormat("ARFF", is_arff, read)
