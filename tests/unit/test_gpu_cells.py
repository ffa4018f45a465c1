"""`benchmarks/gpu_cells.py` on a CPU: cells are played, archived by suite, and not played again."""

import argparse
import importlib
import math
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from showdown.bench.store import Store

ROOT = Path(__file__).parents[2]
SUITE = """
policies = ["LinGreedy", "Uniform", "LinFullPost"]
problems = ["wheel-0.5"]
trials = 2
horizon = 20
"""


@pytest.fixture
def gpu_cells(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("gpu_cells")


@pytest.mark.timeout(300)
def test_cells_come_back_in_archives_and_are_not_played_again(tmp_path, gpu_cells):
    suite, out, archive = tmp_path / "small.toml", tmp_path / "cells", tmp_path / "archive"
    suite.write_text(SUITE)
    options = ["--without", "Lin*Post", "--workers", "2", "--out", out, "--archive", archive]
    command = [sys.executable, gpu_cells.__file__, "play", suite, *options]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 cells played" in done.stdout
    assert [path.name for path in archive.iterdir()] == ["cells-1.tar.gz"]
    with tarfile.open(archive / "cells-1.tar.gz") as packed:
        packed.extractall(tmp_path / "results", filter="data")
    unpacked = Store(tmp_path / "results" / "small")
    assert sorted(record.policy for record in unpacked.cells()) == ["LinGreedy", "Uniform"]
    assert all(unpacked.is_done(record.cell) for record in unpacked.cells())
    asked = argparse.Namespace(
        suites=[str(suite)], out=out, only="*", without="", problems="*", longest=math.inf, seed=None
    )
    assert [job.item.cell.policy_name for job in gpu_cells.missing(asked)[0]] == ["LinFullPost"]


def test_a_full_archive_stays_and_the_next_cells_go_to_another(tmp_path, monkeypatch, gpu_cells):
    cells = tmp_path / "out" / "cells"
    cells.mkdir(parents=True)
    archives = gpu_cells.Archives(tmp_path / "archive", tmp_path / "out", {"a": "one", "b": "two", "c": "two"})

    def names(number: int) -> list[str]:
        with tarfile.open(tmp_path / "archive" / f"cells-{number}.tar.gz") as packed:
            return packed.getnames()

    for cell in ("a", "b", "other"):
        (cells / f"{cell}.parquet").write_bytes(b"table")
    (cells / "a.json").write_bytes(b"record")  # b is being written
    monkeypatch.setattr(gpu_cells, "LARGEST", 0)
    archives.renew()
    (cells / "b.json").write_bytes(b"record")
    monkeypatch.setattr(gpu_cells, "LARGEST", 1 << 20)
    archives.renew()
    assert names(1) == ["one/cells/a.parquet", "one/cells/a.json"]
    assert names(2) == ["two/cells/b.parquet", "two/cells/b.json"]
    for ending in ("parquet", "json"):
        (cells / f"c.{ending}").write_bytes(b"more")
    archives.renew()
    assert names(2)[2:] == ["two/cells/c.parquet", "two/cells/c.json"]
    assert not (tmp_path / "archive" / "cells-3.tar.gz").exists()
