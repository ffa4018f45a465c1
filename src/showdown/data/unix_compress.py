"""Unix compress (`.Z`) unpacked piece by piece, so that whoever reads can stop: a megabyte may hold gigabytes.

The format is LZW with codes of 9 to 16 bits, the lowest bits first. Codes come in groups of eight, which fill as many
bytes as a code has bits; where the width changes, or the table is cleared, the rest of the group is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

CLEAR = 256
PIECE = 1 << 16


class NotCompress(ValueError):
    """What is wrong with the file."""


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
