"""Tables that were read well before the readers learned more keep their digest, and with it their stored cells."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from showdown.problems import table

ROWS = 90
DIGESTS = {  # of commit 0004225
    "bare.csv": "3df644c8cbdf1865aa86",
    "comma.csv": "303fef6b1b26d781bd7a",
    "hashes.csv": "9bb6668bf21482d8121d",
    "mixed.csv": "9f12e9ae14d5d76c419d",
    "one.csv": "41b96b21f48e4db69fd8",
    "sharp.csv": "3df644c8cbdf1865aa86",
    "tags.csv": "9306403b4b631843ab51",
}
REAL = {"magic.dat.gz": "23be693cd0b5a49aa581", "satimage.dat.gz": "3bc4e2c17e584507e544"}
FOLDER = Path(os.environ.get("SHOWDOWN_DATA", Path(__file__).parents[3] / "shared" / "data")) / "tables"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables that come near to what is now recognised: versions, ratios, phone numbers, text that begins with #."""
    folder = tmp_path_factory.mktemp("tables")
    draw = np.random.default_rng(11)
    pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "age": draw.integers(18, 80, ROWS),
            "income": np.where(np.arange(ROWS) % 7 == 0, np.nan, draw.integers(100, 900, ROWS) / 4),
            "region": draw.choice(["north", "south", "east"], ROWS),
            "version": draw.choice(["1.2.3", "1.10.0"], ROWS),
            "joined": (np.datetime64("2021-01-01") + draw.integers(0, 1000, ROWS)).astype(str),
            "phone": [f"{a:03}-{b:04}" for a, b in draw.integers(0, 999, (ROWS, 2))],
            "ratio": draw.choice(["1:2", "3:100", "16:9"], ROWS),
            "reading": ["broken" if row == 3 else str(row % 9 / 2) for row in range(ROWS)],
            "bought": draw.choice(["yes", "no"], ROWS),
        }
    ).to_csv(folder / "mixed.csv", index=False)
    rows = [(a, b, "xyz"[c % 3]) for a, b, c in draw.integers(0, 9, (ROWS, 3))]
    plain = "\n".join(f"{a},{b},{c}" for a, b, c in rows)
    (folder / "bare.csv").write_text(plain)
    (folder / "one.csv").write_text(f"1,2,x\n{plain}")
    (folder / "sharp.csv").write_text(f"#size,b,c\n{plain}")
    (folder / "comma.csv").write_text("\n".join(f"{a},{b};{b};{c}" for a, b, c in rows))
    hashes = "\n".join(f"{'#a' if a > 4 else 'b'},{b},{c}" for a, b, c in rows)
    (folder / "hashes.csv").write_text(f"tag,size,kind\n{hashes}")
    (folder / "tags.csv").write_text("\n".join(f"{'#a' if a != 4 else 'b'},{b},{c}" for a, b, c in rows))
    return folder


@pytest.mark.parametrize("name", DIGESTS)
def test_made_tables_keep_their_digest(folder, name):
    assert table(folder / name, label="-1").digest == DIGESTS[name]


@pytest.mark.parametrize("name", REAL)
def test_real_tables_keep_their_digest(name):
    if not (FOLDER / name).exists():
        pytest.skip(f"{FOLDER / name} is not on this machine")
    assert table(FOLDER / name, label="-1").digest == REAL[name]
