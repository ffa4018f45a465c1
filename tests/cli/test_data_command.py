"""`showdown data`, as a user types it, with a server on this machine where one is needed."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from showdown.data.catalogue import CATALOGUE, DataFile, Dataset

CONTENT = b"1,2\n3,4\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("SHOWDOWN_DATA", raising=False)
    return tmp_path / "cache" / "data"


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """Only two data sets: `toy` is on a server of this machine, `lost` is nowhere."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "toy.csv").write_bytes(CONTENT)
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served")))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    for name in list(CATALOGUE):
        monkeypatch.delitem(CATALOGUE, name)
    for name, title in (("toy", "A toy"), ("lost", "A lost one")):
        url = f"http://127.0.0.1:{http.server_port}/{name}.csv"
        file = DataFile(f"{name}.csv", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), (url,))
        monkeypatch.setitem(CATALOGUE, name, Dataset(name, title, "free for all", (file,)))
    yield
    http.shutdown()
    http.server_close()
    thread.join()


def test_list_names_every_data_set_with_its_terms(showdown):
    answer = showdown("data", "list", "--json")
    assert answer.code == 0
    assert [row["name"] for row in answer.json] == list(CATALOGUE)
    assert all(row["terms"] and row["bytes"] > 0 for row in answer.json)
    assert {file["status"] for row in answer.json for file in row["files"]} == {"not here"}
    text = showdown("data", "list").out
    assert "census      361 MB  US Census 1990" in text
    assert "terms: CC BY 4.0" in text
    assert "not here: USCensus1990.data.txt" in text


def test_fetch_then_list_path_and_verify(showdown, catalogue, home):
    fetched = showdown("data", "fetch", "toy")
    assert (fetched.code, fetched.err) == (0, "")  # not a terminal: no bar, no talk
    assert fetched.out == f"toy        fetched: {home / 'toy' / 'toy.csv'}\n"
    assert "already present, verified" in showdown("data", "fetch", "toy").out
    assert f"verified: {home / 'toy' / 'toy.csv'}" in showdown("data", "list").out
    assert showdown("data", "path", "toy").out == f"{home / 'toy' / 'toy.csv'}\n"
    assert showdown("data", "path", "--json").json == [str(home)]
    verified = showdown("data", "verify", "--json")
    assert verified.code == 0
    assert [(row["name"], row["status"]) for row in verified.json] == [("toy", "verified")]


def test_fetch_all_goes_on_after_a_failure_and_says_so(showdown, catalogue, home):
    answer = showdown("data", "fetch", "all", "--json")
    assert answer.code == 1
    assert [(row["name"], row["status"]) for row in answer.json] == [("toy", "fetched"), ("lost", "failed")]
    assert answer.err.startswith("showdown: could not fetch lost.csv")
    assert "answered 404" in answer.err
    assert answer.err.count("\n") == 1
    assert (home / "toy" / "toy.csv").read_bytes() == CONTENT


def test_data_dir_is_where_a_download_goes_and_where_files_are_found(showdown, catalogue, home, tmp_path):
    mine = tmp_path / "mine"
    assert showdown("data", "fetch", "toy", "--data-dir", str(mine)).code == 0
    assert (mine / "toy" / "toy.csv").read_bytes() == CONTENT
    assert not home.exists()
    assert showdown("data", "path", "toy", "--data-dir", str(mine)).code == 0
    missing = showdown("data", "path", "toy")
    assert missing.code == 1
    assert "get it with `showdown data fetch toy`" in missing.err


def test_verify_finds_a_damaged_file(showdown, catalogue, home):
    showdown("data", "fetch", "toy")
    (home / "toy" / "toy.csv").write_bytes(b"1,2\n3,5\n")
    answer = showdown("data", "verify")
    assert answer.code == 1
    assert f"toy: {home / 'toy' / 'toy.csv'} does not hold toy.csv" in answer.err
    assert "not verified:" in showdown("data", "list").out
    assert showdown("data", "fetch", "toy").code == 0
    assert showdown("data", "verify", "toy").code == 0


def test_verify_with_nothing_here(showdown, catalogue):
    answer = showdown("data", "verify")
    assert answer.code == 0
    assert "no data set is here yet" in answer.err
    named = showdown("data", "verify", "toy")
    assert named.code == 1
    assert "toy.csv is not here" in named.err


@pytest.mark.parametrize("command", ["fetch", "verify", "path"])
def test_an_unknown_name_is_refused_before_anything_is_done(command, showdown, home):
    answer = showdown("data", command, *(["statlog"] if command == "fetch" else []), "covertyp")
    assert answer.code == 2
    assert answer.err == "showdown: no data set is called 'covertyp'; did you mean 'covertype'?\n"
    assert not home.exists()


def test_suites_of_real_problems_name_all_linear_presets():
    from showdown.bench.suite import load_suite
    from showdown.policies import policies

    later = ("-Duel", "UCB", "CB", "IDS", "Fast", "Fast-eps0.05", "Discounted", "Window", "Hybrid")  # not of the paper
    linear = {name for name in policies.names() if name.startswith("Lin") and not name.endswith(later)}
    for name, count in (("real-linear", 6), ("real-all", 8)):
        suite = load_suite(name)
        assert set(suite.policies) == linear | {"Uniform"}
        assert len(suite.policies) == 22
        assert (len(suite.problems), suite.trials, suite.seed, suite.horizon) == (count, 50, 0, None)
    assert {*suite.problems, "tables"} == set(CATALOGUE)
