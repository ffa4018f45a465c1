"""The content of a file, however it is packed: zip, gzip, Unix compress, Jester's spreadsheet, or nested ones.

What a file is, is read from its first bytes, never from its name: mirrors pack differently, and rename.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, cast

from showdown.data.catalogue import DataFile
from showdown.data.locate import names_of

CHUNK = 1 << 20
_ZIP, _EMPTY_ZIP, _GZIP = b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b"
_COMPRESS, _SPREADSHEET = b"\x1f\x9d", b"\xd0\xcf\x11\xe0"


class Unusable(Exception):
    """Why a file cannot be what it should be, as a clause that continues «FILE …»."""


@contextmanager
def unpacked(path: Path, file: DataFile) -> Iterator[BinaryIO]:
    """The content of `path` as a stream of bytes. Errors of unpacking come out as `Unusable`."""
    with path.open("rb") as raw:
        try:
            yield _unwrap(raw, file)
        except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise Unusable(f"cannot be unpacked ({error})") from error


def chunks(stream: BinaryIO, file: DataFile) -> Iterator[bytes]:
    """The content in pieces; stops an archive that unpacks to far more than the file should hold."""
    total = 0
    while chunk := stream.read(CHUNK):
        total += len(chunk)
        if total > 1.1 * file.size + CHUNK:
            raise Unusable(f"holds more than the {file.size} bytes of {file.name}")
        yield chunk


def _unwrap(stream: BinaryIO, file: DataFile, depth: int = 0) -> BinaryIO:
    if depth > 4:
        raise Unusable("is packed too many times over")
    start = stream.read(4)
    stream.seek(0)
    if start.startswith((_ZIP, _EMPTY_ZIP)):
        return _unwrap(_member(zipfile.ZipFile(stream), file), file, depth + 1)
    if start.startswith(_GZIP):
        return _unwrap(cast(BinaryIO, gzip.GzipFile(fileobj=stream)), file, depth + 1)
    if start.startswith(_COMPRESS):
        return io.BytesIO(_from_compress(stream.read()))
    if start.startswith(_SPREADSHEET):
        return io.BytesIO(_from_spreadsheet(stream.read()))
    return stream


def _member(archive: zipfile.ZipFile, file: DataFile) -> BinaryIO:
    names = archive.namelist()
    for name in names:
        if _leaves_its_folder(name):
            raise Unusable(f"is refused: it is a zip with a path outside its folder, {name!r}")
    for wanted in names_of(file):
        for name in names:
            if PurePosixPath(name).name == wanted:
                if archive.getinfo(name).flag_bits & 1:
                    raise Unusable("is a zip that asks for a password")
                return cast(BinaryIO, archive.open(name))
    raise Unusable(f"is a zip without {file.name}")


def _leaves_its_folder(name: str) -> bool:
    windows = PureWindowsPath(name)  # splits at both kinds of slash
    return bool(windows.drive or windows.root) or ".." in windows.parts


def _from_compress(packed: bytes) -> bytes:
    try:
        from unlzw3 import unlzw
    except ImportError as error:
        raise Unusable("is packed by Unix compress, which needs `pip install unlzw3`") from error
    try:
        return unlzw(packed)
    except (ValueError, IndexError) as error:
        raise Unusable(f"cannot be unpacked ({error})") from error


def _from_spreadsheet(packed: bytes) -> bytes:
    """The first sheet as the text that Jester's csv holds: ratings have two decimals, no trailing zeros, no header."""
    try:
        import xlrd
    except ImportError as error:
        raise Unusable("is a spreadsheet, which needs `pip install xlrd`") from error
    try:
        sheet = xlrd.open_workbook(file_contents=packed, logfile=io.StringIO()).sheet_by_index(0)
        rows = (sheet.row_values(row) for row in range(sheet.nrows))
        return "".join(",".join(f"{round(value, 2):g}" for value in row) + "\n" for row in rows).encode()
    except Exception as error:  # xlrd raises whatever a broken file makes it stumble over
        raise Unusable(f"cannot be read as a spreadsheet ({error})") from error
