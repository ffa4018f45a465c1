"""Parsed tables: parsed once, kept under the checksum, and never made of the wrong file."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from showdown.basics.errors import MissingDataError
from showdown.data import parsed_cache as tables
from showdown.data.catalogue import CATALOGUE, DataFile, Dataset
from showdown.data.parsed_cache import parsed


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A data set `toy` in a named folder; call to write its file."""
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SHOWDOWN_DATA", str(tmp_path / "data"))
    path = tmp_path / "data" / "toy" / "toy.csv"
    path.parent.mkdir(parents=True)

    def write(content: bytes, declared: bytes | None = None):
        path.write_bytes(content)
        checksum = hashlib.sha256(content if declared is None else declared).hexdigest()
        monkeypatch.setitem(CATALOGUE, "toy", Dataset("toy", "", "", (DataFile("toy.csv", checksum, 100, ()),)))
        return path

    return write


class Parse:
    """Counts how often it is called."""

    def __init__(self):
        self.calls = 0

    def __call__(self, stream):
        self.calls += 1
        return {"numbers": np.loadtxt(stream, delimiter=",", dtype=np.float32)}


def another_process():
    tables._parsed.cache_clear()


def test_parsed_once_and_kept_for_other_processes_even_without_the_file(toy):
    parse, path = Parse(), toy(b"1,2\n3,4\n")
    first = parsed("toy", parse)
    assert parsed("toy", parse) is first
    path.unlink()
    another_process()
    again = parsed("toy", parse)
    assert parse.calls == 1
    np.testing.assert_array_equal(again["numbers"], [[1, 2], [3, 4]])
    assert again["numbers"].dtype == np.float32


def test_other_content_or_another_parser_is_another_table(toy):
    parse = Parse()
    toy(b"1,2\n3,4\n")
    parsed("toy", parse)
    toy(b"5,6\n7,8\n")
    np.testing.assert_array_equal(parsed("toy", parse)["numbers"], [[5, 6], [7, 8]])
    parsed("toy", parse, version=2)
    assert parse.calls == 3


def test_a_damaged_table_is_made_again(toy, tmp_path):
    parse = Parse()
    toy(b"1,2\n3,4\n")
    parsed("toy", parse)
    (kept,) = (tmp_path / "cache" / "tables").iterdir()
    for damage in (kept.read_bytes()[:-40], b"", b"nonsense"):
        kept.write_bytes(damage)
        another_process()
        np.testing.assert_array_equal(parsed("toy", parse)["numbers"], [[1, 2], [3, 4]])
    assert parse.calls == 4


def test_a_file_with_other_content_is_refused(toy):
    path = toy(b"1,2\n3,4\n", declared=b"1,2\n3,5\n")
    with pytest.raises(MissingDataError, match=f"{path} does not hold toy.csv .*`showdown data fetch toy`"):
        parsed("toy", Parse())


def test_a_cache_that_cannot_be_written_is_done_without(toy, tmp_path, monkeypatch):
    toy(b"1,2\n3,4\n")
    (tmp_path / "occupied").write_bytes(b"")
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "occupied"))
    np.testing.assert_array_equal(parsed("toy", Parse())["numbers"], [[1, 2], [3, 4]])


def test_tables_are_shared_and_so_cannot_be_written_to(toy):
    toy(b"1,2\n3,4\n")
    with pytest.raises(ValueError, match="read-only"):
        parsed("toy", Parse())["numbers"][0, 0] = 9
