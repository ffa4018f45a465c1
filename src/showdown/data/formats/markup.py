"""HTML and XML, which are recognised in order to be refused: as delimited text they would be read as nonsense."""

from __future__ import annotations

import re

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.formats import TextFormat

_BEGINS = re.compile(
    r"\s*(<!--.*?-->\s*)*(<!doctype\b|<\?xml\b|<(html|head|body|table|div|meta|script|title)\b)",
    re.IGNORECASE | re.DOTALL,
)


def is_markup(text: str) -> bool:
    return _BEGINS.match(text) is not None


def refuse(text: str) -> pd.DataFrame:
    if _BEGINS.match(text)[2].lower() == "<?xml" and "<html" not in text[:2000].lower():  # type: ignore[index]
        raise UsageError("it is an XML file, which is not read; write the table as CSV")
    raise UsageError("it is a web page (HTML) and not a table; a download may have failed, or needs to be saved as CSV")


FORMAT = TextFormat("HTML", is_markup, refuse, is_read=False)
