"""Text that means a missing value, in every format of text and in later rows."""

from __future__ import annotations

MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "<null>", "None", "<NA>")
)
