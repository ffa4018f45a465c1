"""Mirrors that send damage, bombs or nonsense: the next one must be asked, and nothing else may change."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import resource
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attacks import Score
from attacks.server import CONTENT, Answer, Server, served
from showdown.data.fetch import fetch

SECONDS = 30  # a fetch that takes longer hangs
MOST_MEMORY = 250 << 20  # bytes that a fetch may add
BOMB = 600 << 20  # bytes that the bombs unpack to


def damaged_downloads(folder: Path, times: int) -> Score:
    """Bits flip, and ends are missing, in every way of packing."""
    score = Score("a bit flips or the end is missing: download")
    chance = random.Random(0)
    whole = [packed for _, packed in packings(CONTENT)]
    with served(folder) as server:
        for number in range(times):
            bad = bytearray(whole[number % len(whole)])
            if number % 3:
                bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
            else:
                del bad[chance.randrange(len(bad)) :]
            attack(score, folder, server, bytes(bad), f"damage {number}")
    return score


def bad_servers(folder: Path, names: tuple[str, ...] = ()) -> Score:
    score = Score("a server misbehaves")
    with served(folder, seconds=1.5) as server:
        for name, answer in SERVERS.items():
            if not names or name in names:
                attack(score, folder, server, answer, name)
    return score


def bombs(folder: Path, size: int = BOMB) -> Score:
    score = Score(f"bombs of {size >> 20} MiB, and archives with odd names")
    with served(folder) as server:
        for name, bomb in [*made_bombs(size), *odd_archives()]:
            attack(score, folder, server, bomb, name)
    return score


def attack(score: Score, folder: Path, server: Server, bad: Answer, name: str) -> None:
    """Fetch from the bad mirror and then from the good one; a note of the user lies in the same folder."""
    place = folder / "data" / "toy"
    place.mkdir(parents=True, exist_ok=True)
    (place / "notes.txt").write_bytes(b"of the user")
    (place / "toy.csv").unlink(missing_ok=True)
    server.bad = bad
    failed, began, memory = score.crashed, time.monotonic(), _most_memory()
    with score.attempt():
        (item,) = fetch("toy", timeout=0.5)
        score.silent += item.path.read_bytes() != CONTENT
    score.crashed += time.monotonic() - began > SECONDS or _most_memory() - memory > MOST_MEMORY
    left = sorted(path.name for path in place.iterdir())
    score.lost += "notes.txt" not in left or len(left) > 2
    if score.crashed > failed:
        print(f"not withstood: {name}", file=sys.stderr)


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED, name: str = "toy.csv") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def packings(content: bytes) -> Iterator[tuple[str, bytes]]:
    yield "gzip", gzip.compress(content)
    yield "gzip twice", gzip.compress(gzip.compress(content))
    yield "zip", zipped(content)
    yield "zip, stored", zipped(content, zipfile.ZIP_STORED)
    yield "zip, bzip2", zipped(content, zipfile.ZIP_BZIP2)
    yield "zip, LZMA", zipped(content, zipfile.ZIP_LZMA)
    yield "zip in a zip", zipped(zipped(content))
    yield "gzip in a zip", zipped(gzip.compress(content))
    yield "Unix compress", unix_compressed(content)
    yield "spreadsheet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(content[:3000])


def unix_compressed(content: bytes) -> bytes:
    """Without repeats: every byte a code of nine bits, and the table cleared before codes grow."""
    packed = bytearray(b"\x1f\x9d\x90")
    for start in range(0, len(content), 239):
        codes = [*content[start : start + 239], 256]
        number = sum(code << 9 * place for place, code in enumerate(codes))
        packed += number.to_bytes(-(-len(codes) // 8) * 9, "little")
    return bytes(packed)


def unix_compress_bomb(size: int) -> bytes:
    """One letter again and again: the n-th code stands for n letters."""
    codes, last, bits, packed, total = [ord("0")], 256, 9, bytearray(b"\x1f\x9d\x90"), 1
    while total < size:
        code = min(last + 1, 65535)
        codes.append(code)
        total += code - 255
        last = min(last + 1, 65535)
        if len(codes) == 8 or (last >= (1 << bits) - 1 and bits < 16):
            packed += sum(code << bits * place for place, code in enumerate(codes)).to_bytes(bits, "little")
            codes = []
            bits += last >= (1 << bits) - 1 and bits < 16
    return bytes(packed)


def made_bombs(size: int) -> Iterator[tuple[str, bytes]]:
    zeros = [b"0" * (1 << 20)] * (size >> 20)

    def gzipped(pieces: list[bytes]) -> bytes:
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6) as out:
            for piece in pieces:
                out.write(piece)
        return packed.getvalue()

    def zip_of(pieces: list[bytes], method: int) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", method) as archive, archive.open("toy.csv", "w") as member:
            for piece in pieces:
                member.write(piece)
        return packed.getvalue()

    single = gzipped(zeros)
    yield "gzip", single
    yield "gzip twice", gzip.compress(single)
    yield "gzip in gzip in a zip", zipped(gzip.compress(single))
    deflated = zip_of(zeros, zipfile.ZIP_DEFLATED)
    yield "zip", deflated
    yield "zip in a zip", zipped(deflated)
    yield "zip that says it is small", deflated.replace(struct.pack("<I", size), struct.pack("<I", 1000))
    yield "zip in a zip that says it is small", zipped(deflated.replace(struct.pack("<I", size), struct.pack("<I", 9)))
    yield "zip, bzip2", zip_of(zeros[: len(zeros) // 4], zipfile.ZIP_BZIP2)
    yield "zip, LZMA", zip_of(zeros[: len(zeros) // 4], zipfile.ZIP_LZMA)
    yield "Unix compress", unix_compress_bomb(size)
    yield "Unix compress in gzip", gzip.compress(unix_compress_bomb(size))
    yield "a spreadsheet in gzip", gzipped([b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", *zeros])
    yield "not packed", b"0" * (40 << 20)


def odd_archives() -> Iterator[tuple[str, bytes]]:
    for name in (
        "../toy.csv",
        "/etc/toy.csv",
        "C:\\toy.csv",
        "a" * 60_000,
        "\x1b[2J",
        "\u202etoy.csv",
        "toy.csv\\..\\..\\x",
    ):
        yield f"a member called {name[:12]!r}", zipped(b"x", name=name)
    plain = zipped(CONTENT)
    yield "a NUL in a name", plain.replace(b"toy.csv", b"to\0.csv")
    yield "a name that is not UTF-8", _utf8(plain.replace(b"toy.csv", b"to\xff.csv"))
    yield "an unknown method", zipped(CONTENT, zipfile.ZIP_STORED).replace(b"\x14\0\0\0\0\0", b"\x14\0\0\0\x63\0")
    yield "two members of one name", _twice()
    yield "an LZMA stream", lzma.compress(CONTENT)
    yield "a bzip2 stream", bz2.compress(CONTENT)
    yield "an empty zip", b"PK\x05\x06" + b"\0" * 18
    yield "a zip of 60,000 members", _many()


def _utf8(packed: bytes) -> bytes:
    """Set the flag that says that names are UTF-8."""
    return packed.replace(b"PK\x03\x04\x14\0\0\0", b"PK\x03\x04\x14\0\0\x08").replace(
        b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\0\x08"
    )


def _twice() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("toy.csv", b"wrong")
        archive.writestr("a/toy.csv", b"wrong too")
    return packed.getvalue()


def _many() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(60_000):
            archive.writestr(f"{number}", b"")
    return packed.getvalue()


def raw(*lines: str, then: Callable[[Any], None] | None = None) -> Answer:
    """An answer written byte by byte as it stands."""

    def answer(handler: Any) -> None:
        handler.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        if then is not None:
            then(handler)

    return answer


def _drip(piece: bytes, pause: float = 0.1, times: int = 300) -> Callable[[Any], None]:
    def answer(handler: Any) -> None:
        for _ in range(times):
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(pause)

    return answer


def _flood(handler: Any) -> None:
    for _ in range(200):
        handler.wfile.write(b"0" * (1 << 20))


def _body(content: bytes) -> Callable[[Any], None]:
    return lambda handler: handler.wfile.write(content)


OK = "HTTP/1.1 200 OK"
SERVERS: dict[str, Answer] = {
    **{
        f"answers {code}": raw(f"HTTP/1.1 {code} x") for code in (204, 206, 304, 400, 403, 404, 408, 410, 429, 500, 503)
    },
    "a reason that clears the screen": raw("HTTP/1.1 404 \x1b[2J\x9b"),
    "redirects to itself": raw("HTTP/1.1 302 Found", "Location: /bad", "Content-Length: 0"),
    "redirects to nowhere": raw("HTTP/1.1 302 Found", "Location: http://127.0.0.1:9/", "Content-Length: 0"),
    "redirects without saying where": raw("HTTP/1.1 302 Found", "Content-Length: 0"),
    "redirects to a file": raw("HTTP/1.1 302 Found", "Location: file:///etc/passwd", "Content-Length: 0"),
    "redirects to ftp": raw("HTTP/1.1 302 Found", "Location: ftp://127.0.0.1/", "Content-Length: 0"),
    "redirects to no address": raw("HTTP/1.1 302 Found", f"Location: http://{'a' * 300}./", "Content-Length: 0"),
    "redirects to a bad port": raw("HTTP/1.1 302 Found", "Location: http://127.0.0.1:99999/", "Content-Length: 0"),
    "hangs up at once": lambda handler: handler.connection.close(),
    "answers nonsense": raw("\0\1\2 nonsense"),
    "answers an old protocol": raw("HTTP/0.9 200 OK", then=_body(b"x")),
    "is silent": lambda handler: time.sleep(3),
    "stops in the middle": raw(OK, "Content-Length: 9999", then=lambda handler: (_body(b"x")(handler), time.sleep(3))),
    "sends less than it says": raw(OK, "Content-Length: 9999", then=_body(CONTENT[:999])),
    "sends more than it says": raw(OK, "Content-Length: 9", then=_body(CONTENT)),
    "a length below 0": raw(OK, "Content-Length: -5", then=_body(CONTENT[:99])),
    "a length that is none": raw(OK, "Content-Length: many", then=_body(CONTENT[:99])),
    "two lengths": raw(OK, "Content-Length: 5", "Content-Length: 7", then=_body(CONTENT[:99])),
    "a length of a terabyte": raw(OK, f"Content-Length: {1 << 40}", then=_body(b"x")),
    "a length of 5,000 digits": raw(OK, f"Content-Length: {'9' * 5000}", then=_body(b"x")),
    "broken chunks": raw(OK, "Transfer-Encoding: chunked", then=_body(b"zz\r\nx\r\n")),
    "a chunk of a terabyte": raw(OK, "Transfer-Encoding: chunked", then=_body(b"ffffffffff\r\nx")),
    "endless": raw(OK, then=_flood),
    "endless headers": _drip(b"a: b\r\n", pause=0, times=100_000),
    "a header without end": lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\na: " + b"b" * 10_000_000),
    "a byte now and then": raw(OK, f"Content-Length: {len(CONTENT)}", then=_drip(b"0")),
    "a byte of the headers now and then": _drip(b"H"),
    "says gzip and is not": raw(OK, "Content-Encoding: gzip", then=_body(b"plain")),
    "says gzip twice: a bomb": raw(
        OK, "Content-Encoding: gzip, gzip", then=_body(gzip.compress(gzip.compress(b"0" * (200 << 20), 6)))
    ),
    "says it is packed in an unknown way": raw(OK, "Content-Encoding: br, zstd, x", then=_body(b"plain")),
}
