"""Excel workbooks: the first sheet that holds anything, with its first row as the header."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.formats import BinaryFormat, first_line
from showdown.data.in_memory import as_frame

OLD, ZIP = b"\xd0\xcf\x11\xe0", b"PK\x03\x04"


def read(path: Path) -> pd.DataFrame:
    try:
        old = _is_old(path)
        sheets = pd.read_excel(path, sheet_name=None, engine="xlrd" if old else "openpyxl")
    except ImportError:
        raise UsageError(
            "it is an Excel workbook, and reading one needs openpyxl: pip install 'bandit-showdown[excel]', "
            "or save the sheet as CSV"
        ) from None
    except Exception as error:  # what the two libraries raise for a damaged file is of many kinds
        raise UsageError(f"it begins as an Excel workbook does and cannot be read ({first_line(error)})") from error
    filled = [sheet for sheet in sheets.values() if len(sheet) and len(sheet.columns)]
    if not filled:
        raise UsageError("it is an Excel workbook without a row of data")
    return as_frame(filled[0])


def _is_old(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(OLD)) == OLD


def _is_workbook(path: Path) -> bool:
    """Whether it is an old workbook, or a zip archive of the new kind; NumPy's archives are zip too."""
    try:
        if _is_old(path):
            return True
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


FORMAT = BinaryFormat("Excel", (OLD, ZIP), read, _is_workbook)
