"""The content of a file, however it is packed: zip, gzip, Unix compress, Jester's spreadsheet, or nested ones.

What a file is, is read from its first bytes, never from its name: mirrors pack differently, and rename. Everything is
unpacked while it is read, and no layer may hold more than `most_bytes`: a small file that unpacks to gigabytes is
stopped there, in memory and on the disk.

Unix compress (`.Z`) is LZW with codes of 9 to 16 bits, the lowest bits first. Codes come in groups of eight, which fill
as many bytes as a code has bits; where the width changes, or the table is cleared, the rest of the group is skipped.
"""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, TypeVar, cast

from showdown.data.catalogue import DataFile, names_of

CLEAR = 256
PIECE = 1 << 16


class NotCompress(ValueError):
    """The file is no Unix compress file. The text says what is wrong with it."""


def decompressed(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The content in pieces of about `PIECE` bytes; `read` gives the packed bytes."""
    header = read(3)
    widest = header[2] & 0x1F if len(header) == 3 else 0
    if not 9 <= widest <= 16 or header[:2] != b"\x1f\x9d" or header[2] & 0x60:
        raise NotCompress("not the beginning of a file of Unix compress")
    widest = max(widest, 10)  # compress itself reads 9 as 10
    clears = bool(header[2] & 0x80)
    # what code `entry` stands for: what prefix[entry] stands for, and then the byte suffix[entry]
    prefix, suffix = [0] * (1 << widest), bytearray(1 << widest)
    empty = CLEAR if clears else 255
    last, bits, previous, first = empty, 9, -1, 0  # `last` entry of the table; `first` byte of the previous code
    out = bytearray()
    while group := read(bits):
        number, whole = int.from_bytes(group, "little"), len(group) * 8 // bits
        if len(group) < bits and len(group) * 8 - whole * bits >= 8:
            raise NotCompress("it ends within a code")
        for place in range(whole):
            code = number >> place * bits & (1 << bits) - 1
            if code == CLEAR and clears:
                last, bits, previous = empty, 9, -1
                break
            if code > (last + 1 if previous >= 0 else 255):
                raise NotCompress("a code that does not exist yet")
            word, at = bytearray(), code
            if code > last:  # the entry that this very code makes: the previous one and its own first byte
                word.append(first)
                at = previous
            while at > 255:
                word.append(suffix[at])
                at = prefix[at]
            word.append(at)
            first = at
            out += word[::-1]
            if previous >= 0 and last < (1 << widest) - 1:
                last += 1
                prefix[last], suffix[last] = previous, first
            previous = code
            if len(out) >= PIECE:
                yield bytes(out)
                out.clear()
            if last >= (1 << bits) - 1 and bits < widest:
                bits += 1
                break
    yield bytes(out)


T = TypeVar("T")

CHUNK = 1 << 20
IN_MEMORY = 32 << 20  # of an archive inside an archive; a larger one goes to a temporary file
_STEP, _SMALL_STEP = 1 << 16, 1 << 12
_ZIP, _EMPTY_ZIP, _GZIP = b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b"
_COMPRESS, _SPREADSHEET = b"\x1f\x9d", b"\xd0\xcf\x11\xe0"


class Unusable(Exception):
    """Why a file cannot be what it should be, as a clause that continues «FILE …»."""

    passing = False  # whether it may go away by itself, so that trying again makes sense


def most_bytes(size: int) -> int:
    """The most that a download, or a layer of packing, may hold for `size` bytes of data: archives hold other files."""
    return 2 * size + (16 << 20)


@contextmanager
def unpacked(path: Path, file: DataFile) -> Iterator[BinaryIO]:
    """The content of `path` as a stream of bytes. Errors of unpacking come out as `Unusable`."""
    with ExitStack() as stack:
        yield _unwrap(stack.enter_context(path.open("rb")), file, stack)


def chunks(stream: BinaryIO, file: DataFile) -> Iterator[bytes]:
    """The content in pieces; stops an archive that unpacks to far more than the file should hold."""
    total = 0
    while chunk := stream.read(CHUNK):
        total += len(chunk)
        if total > 1.1 * file.size + CHUNK:
            raise Unusable(f"holds more than the {file.size} bytes of {file.name}")
        yield chunk


def _unwrap(stream: io.BufferedReader, file: DataFile, stack: ExitStack, depth: int = 0) -> BinaryIO:
    if depth > 4:
        raise Unusable("is packed too many times over")
    start = stream.peek(4)[:4]
    if start.startswith((_ZIP, _EMPTY_ZIP)):
        whole = _seekable(stream, stack) if depth else stream
        layer = _translated(lambda: _member(zipfile.ZipFile(whole), file))
    elif start.startswith(_GZIP):
        layer = _bounded(gzip.GzipFile(fileobj=stream).read, file)
    elif start.startswith(_COMPRESS):
        return _bounded(_reader(decompressed(stream.read)), file)
    elif start.startswith(_SPREADSHEET):
        return _bounded(_reader(_from_spreadsheet(stream.read(most_bytes(file.size)))), file)
    else:
        return stream
    return _unwrap(layer, file, stack, depth + 1)


class _Bounded(io.RawIOBase):
    """One layer of packing: its errors become `Unusable`, and so does more than `limit` bytes."""

    def __init__(self, read: Callable[[int], bytes], limit: int, step: int) -> None:
        self.read_packed, self.limit, self.step = read, limit, step
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        piece = _translated(lambda: self.read_packed(min(len(buffer), self.step)))
        self.count += len(piece)
        if self.count > self.limit:
            raise Unusable(f"unpacks to more than {self.limit:,} bytes")
        buffer[: len(piece)] = piece
        return len(piece)


def _bounded(read: Callable[[int], bytes], file: DataFile, step: int = _STEP) -> io.BufferedReader:
    return io.BufferedReader(_Bounded(read, most_bytes(file.size), step), _STEP)


def _translated(action: Callable[[], T]) -> T:
    """The answer of an unpacker. What a broken file makes it raise becomes `Unusable`; errors of this disk go on."""
    try:
        return action()
    except Unusable:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise Unusable(f"cannot be unpacked ({str(error) or type(error).__name__})") from error


def _seekable(stream: BinaryIO, stack: ExitStack) -> BinaryIO:
    """A stream that can be read from its end, as a zip must be; a packed layer is written to a file for that."""
    whole = stack.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115
    shutil.copyfileobj(stream, whole)
    whole.seek(0)
    return cast(BinaryIO, whole)


def _member(archive: zipfile.ZipFile, file: DataFile) -> io.BufferedReader:
    names = archive.namelist()
    for name in names:
        if _leaves_its_folder(name):
            raise Unusable(f"is refused: it is a zip with a path outside its folder, {name!r}")
    for wanted in names_of(file):
        for name in names:
            if PurePosixPath(name).name == wanted:
                entry = archive.getinfo(name)
                if entry.flag_bits & 1:
                    raise Unusable("is a zip that asks for a password")
                # zipfile unpacks bzip2 and LZMA without a limit: what a step unpacks to is all in memory at once
                plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
                return _bounded(archive.open(entry).read, file, _STEP if plain else _SMALL_STEP)
    raise Unusable(f"is a zip without {file.name}")


def _leaves_its_folder(name: str) -> bool:
    windows = PureWindowsPath(name)  # splits at both kinds of slash
    return bool(windows.drive or windows.root) or ".." in windows.parts


def _reader(pieces: Iterator[bytes]) -> Callable[[int], bytes]:
    """A `read` over pieces of any length; only the last answer is empty."""
    left = b""

    def read(count: int) -> bytes:
        nonlocal left
        while not left:
            piece = next(pieces, None)
            if piece is None:
                return b""
            left = piece
        given, left = left[:count], left[count:]
        return given

    return read


def _from_spreadsheet(packed: bytes) -> Iterator[bytes]:
    """The first sheet as the text that Jester's csv holds: ratings have two decimals, no trailing zeros, no header."""
    try:
        import xlrd
    except ImportError as error:
        raise Unusable("is a spreadsheet, which needs `pip install xlrd`") from error
    try:
        sheet = xlrd.open_workbook(file_contents=packed, logfile=io.StringIO()).sheet_by_index(0)
        for row in range(sheet.nrows):
            yield (",".join(f"{round(value, 2):g}" for value in sheet.row_values(row)) + "\n").encode()
    except Exception as error:  # xlrd raises whatever a broken file makes it stumble over
        raise Unusable(f"cannot be read as a spreadsheet ({error})") from error
