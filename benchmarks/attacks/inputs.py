"""Files that a user might hand over and that are not what they seem: each is read, or refused in one sentence."""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from attacks import Score, call

ROWS = 40
Maker = Callable[[], bytes]


def csv(column: Callable[[int], object], rows: int = ROWS) -> bytes:
    """A table whose column `odd` holds these values."""
    lines = [f"{number % 7},{column(number)},{'ab'[number % 2]},{number % 3},0.5" for number in range(rows)]
    return "\n".join(["x,odd,action,reward,propensity", *lines, ""]).encode("utf-8", "surrogatepass")


def jsonl(column: Callable[[int], str], rows: int = ROWS) -> bytes:
    """The same as lines of JSON; `column` gives the text of a JSON value."""
    lines = [
        f'{{"x": {number % 7}, "odd": {column(number)}, "action": "{"ab"[number % 2]}", "reward": {number % 3}}}'
        for number in range(rows)
    ]
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    plain = {"x": np.arange(ROWS) % 7, "action": list("ab") * (ROWS // 2), "reward": np.arange(ROWS) % 3}
    pd.DataFrame({**plain, **columns}).to_parquet(stream)
    return stream.getvalue()


def npy(shape: tuple[int, ...], content: bytes, kind: str = "<f8") -> bytes:
    """An array file whose header says what we like."""
    header = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (118 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def npz(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def damaged_gzip(place: float, size: int = 60_000) -> bytes:
    """A gzip of a table with noise in it, some bytes of which are wrong."""
    noise = random.Random(0)
    packed = bytearray(gzip.compress(csv(lambda _: noise.random(), size)))
    middle = int(place * len(packed))
    packed[middle : middle + 20] = b"\xff" * 20
    return bytes(packed)


BIG = "9" * 400
NESTED = "[" * 100_000

ODD: dict[str, Maker] = {
    "a number of 400 digits": lambda: csv(lambda number: BIG if number == 30 else number),
    "numbers of 400 digits": lambda: csv(lambda number: BIG),
    "a number of 5,000 digits": lambda: csv(lambda number: "9" * 5000 if number == 3 else number),
    "numbers above 2^64": lambda: csv(lambda number: 2**64 + number * 2**40),
    "1e400": lambda: csv(lambda number: "1e400" if number % 2 else number),
    "infinities": lambda: csv(lambda number: ["inf", "-inf", "nan"][number % 3]),
    "denormal numbers": lambda: csv(lambda number: f"{number}e-320"),
    "a corrupt gzip, early": lambda: damaged_gzip(0.01),
    "a corrupt gzip, late": lambda: damaged_gzip(0.95),
    "a gzip without its end": lambda: gzip.compress(csv(str, 20_000))[:-100],
    "a gzip with a wrong checksum": lambda: gzip.compress(csv(str, 20_000))[:-8] + bytes(8),
    "a gzip and then something else": lambda: gzip.compress(csv(str, 9000)) + b"nonsense",
    "nothing but the magic of gzip": lambda: b"\x1f\x8b\x08",
    "lists in Parquet": lambda: parquet(odd=[[1, 2]] * ROWS),
    "dictionaries in Parquet": lambda: parquet(odd=[{"a": 1}] * ROWS),
    "bytes in Parquet": lambda: parquet(odd=[b"\xff\xfe"] * ROWS),
    "huge integers in Parquet": lambda: parquet(odd=np.full(ROWS, 2**64 - 1, np.uint64)),
    "a Parquet file without its end": lambda: parquet()[:-40],
    "a Parquet file with a wrong length": lambda: parquet()[:-8] + b"\xff\xff\xff\x7fPAR1",
    "an .npy that says it is larger": lambda: npy((10**6, 3), bytes(800)),
    "an .npy that says it is huge": lambda: npy((10**15, 30), bytes(800)),
    "an .npy with a negative shape": lambda: npy((-5, 3), bytes(800)),
    "an .npy of more dimensions": lambda: npy((2, 2, 2), bytes(64)),
    "an .npy of no size": lambda: npy((0, 3), b""),
    "an .npy of objects": lambda: npy((5,), bytes(40), "|O"),
    "an .npy of no known kind": lambda: npy((5,), bytes(40), "<q9"),
    "an .npy whose header is no header": lambda: b"\x93NUMPY\x01\x00\x76\x00" + b"(" * 118,
    "an .npz with a lying array": lambda: npz(x=npy((10**12,), bytes(80)), y=npy((10,), bytes(80))),
    "half a surrogate pair in JSON": lambda: jsonl(lambda number: '"\\ud800"' if number % 2 else '"a"'),
    "half a surrogate pair as a name": lambda: jsonl(str).replace(b'"odd"', b'"\\udc00"'),
    "an integer of 400 digits in JSON": lambda: jsonl(lambda number: BIG if number == 30 else str(number)),
    "an integer of 5,000 digits in JSON": lambda: jsonl(lambda number: "9" * 5000),
    "lists in JSON": lambda: jsonl(lambda number: "[1, 2]"),
    "deep JSON": lambda: jsonl(lambda number: NESTED if number == 1 else "1"),
    "JSON with NaN and Infinity": lambda: jsonl(lambda number: ["NaN", "Infinity", "-Infinity"][number % 3]),
    "mixed kinds in JSON": lambda: jsonl(lambda number: ['"a"', "1", "null", "true", "{}", "[]"][number % 6]),
    "propensities of 1e-300": lambda: csv(str).replace(b",0.5\n", b",1e-300\n"),
    "one propensity of 1e-300": lambda: csv(str).replace(b",0.5\n", b",1e-300\n", 1),
    "one propensity of 1e-40": lambda: csv(str).replace(b",0.5\n", b",1e-40\n", 1),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "inspect": ("inspect",),
    "inspect, the label": ("inspect", "--label", "odd"),
    "inspect, rewards": ("inspect", "--rewards", "odd+x"),
    "evaluate": ("evaluate", "--policy", "uniform,always a"),
    "evaluate, the action": ("evaluate", "--policy", "uniform", "--action", "odd", "--reward", "reward"),
    "evaluate, the reward": ("evaluate", "--policy", "uniform", "--action", "action", "--reward", "odd"),
    "evaluate, the propensity": ("evaluate", "--policy", "uniform", "--action", "action", "--propensity", "odd"),
    "evaluate, the time": ("evaluate", "--policy", "uniform", "--action", "action", "--time", "odd"),
}


def odd_files(directory: Path, every: int = 1) -> Score:
    """Each file through each command."""
    score = Score("files that are not what they seem")
    directory.mkdir(parents=True)
    for number, (name, make) in enumerate(ODD.items()):
        path = directory / f"{number}.data"
        path.write_bytes(make())
        for position, command in enumerate(COMMANDS.values()):
            if (number + position) % every == 0:
                with score.attempt():
                    if call(*command, str(path)) not in (0, 2):
                        score.crashed += 1
                        print(f"{name}: {command}", file=sys.stderr)
    return score


BOMB_BYTES = 1500 << 20
MOST_MEMORY = 3 << 30  # that a process may take while it refuses a bomb


def bombs(directory: Path, size: int = BOMB_BYTES) -> Score:
    """A small gzip that unpacks to gigabytes: refused, early and with little memory."""
    score = Score(f"a gzip bomb of {size >> 20} MiB")
    directory.mkdir(parents=True)
    for name, line in (("one line", b"0"), ("lines", b"1,2,3\n" * 1000), ("JSON", b'{"a": 1, "b": "x"}\n' * 500)):
        path = directory / f"{name}.gz"
        with gzip.open(path, "wb", compresslevel=6) as stream:
            piece = line * ((1 << 20) // len(line))
            for _ in range(size // len(piece)):
                stream.write(piece)
        with score.attempt():
            ended = _limited("inspect", str(path))
            score.crashed += ended.returncode != 2 or "Traceback" in ended.stderr
            score.silent += ended.returncode == 0
    return score


def _limited(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that may take so much memory and no more."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))

    command = [sys.executable, "-m", "showdown", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, preexec_fn=limit)


def damaged_inputs(directory: Path, flips: int = 300) -> Score:
    """A bit of a good file flips: read or refused, in every format."""
    score = Score("a bit flips: a user's file")
    directory.mkdir(parents=True)
    chance = random.Random(1)
    plain = csv(lambda number: number * 0.37)
    whole = {"csv": plain, "gz": gzip.compress(plain), "parquet": parquet(), "npy": npy((20, 2), bytes(320))}
    whole |= {"npz": npz(x=npy((20, 2), bytes(320))), "json": jsonl(lambda number: json.dumps(number * 0.37))}
    for _ in range(flips):
        for kind, content in whole.items():
            changed = bytearray(content)
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            path = directory / f"flipped.{kind}"
            path.write_bytes(bytes(changed))
            with score.attempt():
                score.crashed += call("inspect", str(path)) not in (0, 2)
    return score
