"""Damaged cells are never shown as valid numbers, and cost no other cell."""

from __future__ import annotations

import json

import pytest

from attacks import call, damage, lies, made_store, write_cell
from showdown.bench.store import Store


@pytest.mark.parametrize("suffix", [".parquet", ".json"])
@pytest.mark.parametrize("change", [damage.flip, damage.cut])
def test_flipped_bits_and_files_cut_short(tmp_path, suffix, change):
    assert damage.damaged_files(tmp_path / "store", suffix, change, 100).withstood


@pytest.mark.parametrize("suffix", [".parquet", ".json"])
def test_files_that_changed_places(tmp_path, suffix):
    assert damage.swaps(tmp_path / "store", suffix, cells=4).withstood


def test_the_cache_of_parsed_tables_heals(tmp_path):
    assert damage.damaged_cache(tmp_path, 300).withstood


def test_records_that_lie(tmp_path):
    assert lies.lying_records(tmp_path / "store", every=13).withstood


def test_verify_names_what_is_damaged_and_seals_what_has_no_checksum(tmp_path, capsys):
    cells = made_store(tmp_path, 3)
    assert call("verify", str(tmp_path)) == 0
    records = [tmp_path / "cells" / f"{cell.hash}.json" for cell in cells]
    old = json.loads(records[0].read_text())
    del old["checksum"], old["table_sha256"]
    records[0].write_text(json.dumps(old, indent=1, ensure_ascii=False) + "\n")
    assert call("verify", str(tmp_path)) == 0
    assert Store(tmp_path).cells()[0].verified is False
    before = records[0].read_text()
    assert call("verify", str(tmp_path), "--seal") == 0
    assert Store(tmp_path).cells()[0].verified
    assert records[0].read_text().startswith(before.rstrip("}\n") + "}")  # nothing but the checksums was added
    records[1].with_suffix(".parquet").write_bytes(b"PAR1")
    assert call("verify", str(tmp_path)) == 1
    store = Store(tmp_path)
    assert not store.is_done(cells[1].hash)
    write_cell(store, 1)  # what the same `showdown run` does
    assert call("verify", str(tmp_path)) == 0
