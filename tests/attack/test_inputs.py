"""Files of a user's that are not what they seem: read, or refused in one sentence; bombs are stopped on the way."""

from __future__ import annotations

import gzip
import re

import pytest

from attacks import inputs
from showdown.basics.errors import TooLargeError, UsageError
from showdown.data import gzipped
from showdown.data.read_table import read_table
from showdown.logged.read_log import read_log


def test_no_file_is_a_traceback(tmp_path):
    assert inputs.odd_files(tmp_path / "files", every=8).withstood


def test_flipped_bits(tmp_path):
    assert inputs.damaged_inputs(tmp_path / "files", flips=15).withstood


def refusal(path) -> str:
    with pytest.raises(UsageError) as caught:
        read_table(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a corrupt gzip, early", "it is not a whole gzip file (Error -3"),
        ("a corrupt gzip, late", "it is not a whole gzip file ("),
        ("a gzip without its end", "it is not a whole gzip file (Compressed file ended"),
        ("a gzip with a wrong checksum", "it is not a whole gzip file (CRC check failed"),
        ("an .npy that says it is huge", "it cannot be read as a NumPy file: "),
        ("an .npy whose header is no header", "it cannot be read as a NumPy file: "),
        ("an .npz with a lying array", "it cannot be read as a NumPy file: "),
        ("a Parquet file with a wrong length", "it begins as a Parquet file does and is not a whole one"),
    ],
)
def test_what_is_wrong_is_said(name, sentence, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(inputs.ODD[name]())
    assert sentence in refusal(path)


def test_a_damaged_gzip_says_how_far_it_was_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(inputs.damaged_gzip(0.95))
    assert "bytes could be unpacked" in refusal(path)


@pytest.mark.parametrize("line", [b"1,2,3\n", b'{"a": 1}\n'])
def test_bombs_are_refused_early(line, tmp_path, monkeypatch):
    monkeypatch.setattr(gzipped, "RATIO_FROM", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(line * ((64 << 20) // len(line)), 6))
    assert re.search(r"it unpacks to more than (16|32) MiB, over 200 times its own size", refusal(path))


def test_what_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(gzipped, "host_free_bytes", lambda: 500)
    (tmp_path / "file.csv").write_bytes(inputs.csv(str))
    (tmp_path / "file.parquet").write_bytes(inputs.parquet())
    for name in ("file.csv", "file.parquet"):
        with pytest.raises(UsageError, match="GiB are free; keep fewer rows or columns") as caught:
            read_table(tmp_path / name)
        assert isinstance(caught.value.__cause__, TooLargeError)


def test_a_huge_integer_costs_only_its_own_cell(tmp_path):
    for content in (inputs.ODD["a number of 400 digits"](), inputs.ODD["an integer of 400 digits in JSON"]()):
        (tmp_path / "file").write_bytes(content)
        table = read_table(tmp_path / "file").table
        assert len(table) == inputs.ROWS
        assert list(table["x"]) == [number % 7 for number in range(inputs.ROWS)]


def test_half_a_surrogate_pair_becomes_the_sign_for_it(tmp_path):
    (tmp_path / "file").write_bytes(inputs.jsonl(lambda number: '"\\ud83d\\ude00 \\ud800"'))
    assert set(read_table(tmp_path / "file").table["odd"]) == {"\U0001f600 \ufffd"}


def test_nested_values_are_named_as_such(tmp_path):
    (tmp_path / "file").write_bytes(inputs.ODD["lists in Parquet"]())
    with pytest.raises(UsageError, match="the column 'odd' holds nested values"):
        read_log(tmp_path / "file", action="odd", reward="reward")


def test_a_propensity_of_never_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(inputs.ODD["one propensity of 1e-300"]())
    with pytest.raises(UsageError, match=r"1 propensities are below 1e-18 \(the first, 1e-300, in row 1\)"):
        read_log(tmp_path / "file", action="action", reward="reward", propensity="propensity")
