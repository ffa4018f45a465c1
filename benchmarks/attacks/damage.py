"""Damage by accident: bits that flip, files that are cut short, files that change places."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from attacks import Score, judge, made_store, rows_by_cell
from showdown.bench.store import Store
from showdown.data import parsed_cache

CELLS = 3


def flip(content: bytes, random: random.Random) -> bytes:
    position = random.randrange(len(content))
    return content[:position] + bytes([content[position] ^ 1 << random.randrange(8)]) + content[position + 1 :]


def cut(content: bytes, random: random.Random) -> bytes:
    return content[: random.randrange(len(content))]


def damaged_files(directory: Path, suffix: str, change: Callable[[bytes, random.Random], bytes], times: int) -> Score:
    """One file of a store at a time."""
    score = Score(f"{'a bit flips' if change is flip else 'cut short'}: {suffix[1:]}")
    made_store(directory, CELLS)
    before = rows_by_cell(Store(directory).frame())
    chance = random.Random(times)
    files = sorted((directory / "cells").glob(f"*{suffix}"))
    for number in range(times):
        path = files[number % len(files)]
        content = path.read_bytes()
        path.write_bytes(change(content, chance))
        with score.attempt():
            judge(score, directory, before, {path.stem})
        path.write_bytes(content)
    return score


def swaps(directory: Path, suffix: str, cells: int = 6) -> Score:
    """Every pair of files of one kind changes places."""
    score = Score(f"two files change places: {suffix[1:]}")
    made_store(directory, cells)
    before = rows_by_cell(Store(directory).frame())
    files = sorted((directory / "cells").glob(f"*{suffix}"))
    for one, two in itertools.combinations(files, 2):
        contents = one.read_bytes(), two.read_bytes()
        one.write_bytes(contents[1])
        two.write_bytes(contents[0])
        with score.attempt():
            judge(score, directory, before, {one.stem, two.stem})
        one.write_bytes(contents[0])
        two.write_bytes(contents[1])
    return score


def damaged_cache(directory: Path, times: int) -> Score:
    """The cache of parsed tables must give what was put in, or nothing."""
    score = Score("a bit flips: parsed table")
    path = directory / "toy.table"
    arrays = {"x": np.arange(60, dtype=np.float32).reshape(20, 3), "labels": np.arange(20)}
    parsed_cache._keep(path, arrays)
    content, chance = path.read_bytes(), random.Random(times)
    for number in range(times):
        path.write_bytes((cut if number % 10 == 9 else flip)(content, chance))
        with score.attempt():
            read = parsed_cache._read(path)
            same = read is None or (
                read.keys() == arrays.keys() and all(np.array_equal(read[name], arrays[name]) for name in arrays)
            )
            score.silent += not same
    path.write_bytes(content)
    score.lost += parsed_cache._read(path) is None
    return score
