"""Mirrors that send damage, bombs or nonsense, on this machine; benchmarks/attack.py does more of the same."""

from __future__ import annotations

import gzip
import io

import pytest

from attacks import downloads
from attacks.server import CONTENT, served
from showdown.basics.errors import MissingDataError
from showdown.data.fetch import fetch
from showdown.data.unpack import NotCompress, decompressed


def test_damage_is_the_failure_of_one_mirror(tmp_path):
    assert downloads.damaged_downloads(tmp_path, 60).withstood


def test_bombs_are_stopped_on_the_way(tmp_path):
    assert downloads.bombs(tmp_path, 32 << 20).withstood


@pytest.mark.parametrize(
    "name",
    [
        *("answers 404", "answers 503", "redirects to itself", "redirects to nowhere", "redirects to no address"),
        *("hangs up at once", "answers nonsense", "sends less than it says", "a length of 5,000 digits", "endless"),
        *("a byte now and then", "a byte of the headers now and then", "says gzip twice: a bomb"),
    ],
)
def test_bad_servers(name, tmp_path):
    assert downloads.bad_servers(tmp_path, (name,)).withstood


@pytest.mark.parametrize("name", [name for name, _ in downloads.packings(CONTENT)][:-1])
def test_the_packings_of_the_attacks_are_good_ones(name, tmp_path):
    """Else they would all be refused for another reason than their damage."""
    with served(tmp_path) as server:
        server.bad = dict(downloads.packings(CONTENT))[name]
        assert fetch("toy")[0].url == server.url("/bad")


def test_the_error_says_what_each_mirror_did(tmp_path):
    answers = {"/bad": downloads.raw("HTTP/1.1 404 \x1b[2J"), "/worse": downloads.raw("HTTP/1.1 200 OK", then=wrong)}
    with served(tmp_path, paths=("/bad", "/worse")) as server:
        server.bad = lambda handler: answers[handler.path](handler)
        with pytest.raises(MissingDataError) as caught:
            fetch("toy")
    assert "/bad answered 404 \\u001b[2J; http" in str(caught.value)
    assert "/worse does not hold toy.csv" in str(caught.value)


def wrong(handler):
    handler.wfile.write(gzip.compress(b"wrong"))


@pytest.mark.parametrize(("status", "times", "gets_it"), [(503, 3, True), (429, 3, True), (404, 1, False)])
def test_a_server_that_recovers_is_asked_again_and_a_gone_file_is_not(status, times, gets_it, tmp_path):
    asked = []

    def answer(handler):
        asked.append(handler.path)
        bad = downloads.raw(f"HTTP/1.1 {status} x")
        good = downloads.raw("HTTP/1.1 200 OK", then=lambda handler: handler.wfile.write(CONTENT))
        (bad if len(asked) < 3 else good)(handler)

    with served(tmp_path, paths=("/bad",)) as server:
        server.bad = answer
        if gets_it:
            assert fetch("toy")[0].path.read_bytes() == CONTENT
        else:
            with pytest.raises(MissingDataError, match="answered 404"):
                fetch("toy")
    assert len(asked) == times


def test_unix_compress_is_unpacked_piece_by_piece():
    packed = downloads.unix_compress_bomb(1 << 30)
    assert len(packed) < 1 << 20
    pieces = decompressed(io.BytesIO(packed).read)
    for _ in range(3):
        piece = next(pieces)
        assert len(piece) < 1 << 18
        assert set(piece) == {ord("0")}
    for broken in (b"", b"\x1f\x9d", b"\x1f\x9d\xff", b"\x1f\x9d\x90\xff\xff\xff", b"\x1f\x9d\x90a"):
        with pytest.raises(NotCompress):
            list(decompressed(io.BytesIO(broken).read))


def test_repeats_in_unix_compress():
    """`ababababa…`: codes that stand for several letters, and such as are used where they are made."""
    codes = [ord("a"), ord("b"), 257, 259, 258]
    packed = sum(code << 9 * place for place, code in enumerate(codes)).to_bytes(6, "little")
    assert b"".join(decompressed(io.BytesIO(b"\x1f\x9d\x90" + packed).read)) == b"ab" + b"ab" + b"aba" + b"ba"
