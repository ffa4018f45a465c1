"""Stores behind a URL: what is uploaded is whole, what is there is not played again, and writers do not disturb others.

In memory always; on an S3 server of moto's on 127.0.0.1 where s3fs and moto are installed (`benchmarks/s3_store.py`).
"""

from __future__ import annotations

import json
import threading
from importlib.util import find_spec

import pytest

from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench import reach, record_file
from showdown.bench.remote import MOST_FAILURES, Mirror, Remote, _Copier, copy_cells, is_url, opened
from showdown.bench.store import Store
from showdown.cli.main import app

pytestmark = pytest.mark.skipif(find_spec("fsspec") is None, reason="fsspec is not installed")
REGRETS = {("Uniform", "wheel-0.5"): [3.0, 4.0], ("LinPost", "wheel-0.5"): [1.0, 2.0]}


@pytest.fixture(scope="module")
def s3_server():
    if find_spec("s3fs") is None or find_spec("moto") is None:
        pytest.skip("s3fs or moto is not installed: benchmarks/s3_store.py installs both in an environment of its own")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture(params=["memory", "s3"])
def url(request, monkeypatch, tmp_path):
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    name = tmp_path.name.replace("_", "-")
    if request.param == "memory":
        return f"memory://{name}"
    endpoint = request.getfixturevalue("s3_server")
    for variable, value in (
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(variable, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir(f"bucket-{abs(hash(name))}")
    return f"s3://bucket-{abs(hash(name))}/study"


def test_there_and_back(url, stored, tmp_path):
    here, back = Store(stored(tmp_path / "here", REGRETS)), Store(tmp_path / "back")
    there = Remote(url)
    assert copy_cells(here, there).new == 2
    assert copy_cells(here, there).present == 2
    assert copy_cells(there, back).new == 2
    for record in here.cells():
        assert back.files_of(record.cell) == here.files_of(record.cell)


def test_a_record_always_names_a_table_that_is_there(url, stored, tmp_path, monkeypatch):
    """Two machines play one cell and their numbers differ; the steps of their uploads fall in the worst order."""
    first, second = (
        Store(stored(tmp_path / name, {("Uniform", "wheel-0.5"): regrets}))
        for name, regrets in (("first", [3.0, 4.0]), ("second", [3.0, 4.5]))
    )
    (cell,) = {record.cell for record in (*first.cells(), *second.cells())}
    one, two = Remote(url), Remote(url)
    put = one._put

    def late(path: str, content: bytes) -> None:
        if path.endswith(".json"):
            assert two.adopt(second.files_of(cell))  # all of the other's upload, between the two steps of this one
        put(path, content)

    monkeypatch.setattr(one, "_put", late)
    assert one.adopt(first.files_of(cell))
    assert Remote(url).files_of(cell) == first.files_of(cell)


def test_names_join_and_nothing_is_replaced(url, stored, tmp_path, change_cell):
    here = Store(stored(tmp_path / "here", {("Uniform", "wheel-0.5"): [3.0, 4.0]}))
    there = Remote(url)
    copy_cells(here, there)
    (path,) = here.paths()
    change_cell(path, names=[["Chance", "wheel-0.5"]])
    assert copy_cells(here, there).new == 1
    assert set(there.records()[path.stem].names) == {("Uniform", "wheel-0.5"), ("Chance", "wheel-0.5")}


def test_what_is_damaged_is_neither_sent_nor_taken(url, stored, tmp_path):
    here, there = Store(stored(tmp_path / "here", REGRETS)), Remote(url)
    cell, other = (path.stem for path in here.paths())
    files = here.files_of(cell)
    with pytest.raises(ValueError, match="done cell with its table"):
        there.adopt(files._replace(table=b"half"))
    with pytest.raises(ValueError, match="checksum"):
        Store(tmp_path / "back").adopt(files._replace(table=b"half"))
    copy_cells(here, there)
    there.files.pipe_file(there._table_path(record_file.sha256(files.table)), b"half")
    copied = copy_cells(there, back := Store(tmp_path / "back"))
    assert copied.damaged == {cell: "its table is missing or damaged"}
    assert [path.stem for path in back.paths()] == [other]


def test_a_run_uploads_what_it_plays_and_plays_nothing_twice(url, tmp_path, monkeypatch, capsys):
    command = ["run", "--policies", "Uniform", "--problems", "wheel-0.5,wheel-0.9", "--trials", "2", "--horizon", "20"]
    first = answer([*command, "--out", url], capsys)
    assert [cell["new"] for cell in first["cells"]] == [True, True]
    assert len(Remote(url).records()) == 2
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "another machine"))
    again = answer([*command, "--out", url], capsys)
    assert [cell["new"] for cell in again["cells"]] == [False, False]
    assert answer(["sync", url, str(tmp_path / "results")], capsys) == {"new": 2, "present": 0, "damaged": []}


def answer(command: list[str], capsys) -> dict:
    app([*command, "--json"], standalone_mode=False)
    return json.loads(capsys.readouterr().out)


def test_a_run_goes_on_when_an_upload_fails(stored, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    mirror = Mirror.of(f"memory://{tmp_path.name}-failing")
    stored(mirror.store.directory, REGRETS)
    monkeypatch.setattr(reach, "PAUSES", ())
    cells = [path.stem for path in mirror.store.paths()]
    monkeypatch.setattr(mirror.remote, "files", Faulty(mirror.remote.files, {"pipe_file": [fail] * 2}))
    assert "no route" in mirror.upload(cells[0])
    with pytest.raises(ShowdownError, match="1 finished cells are kept in"):
        mirror.finish()
    mirror.finish()
    assert list(mirror.remote.records()) == [cells[0]]


class Faulty:
    """A file system whose calls, by name, do something else first: each list is worked off, a call at a time."""

    def __init__(self, files, faults):
        self.files, self.faults, self.calls = files, faults, []

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self.calls.append(name)
            if self.faults.get(name):
                self.faults[name].pop(0)(*args)
            return getattr(self.files, name)(*args, **kwargs)

        return call


def fail(*_):
    raise ConnectionError("no route")


def stall(*_):
    threading.Event().wait(60)


@pytest.fixture
def remote(stored, tmp_path, monkeypatch):
    """A store with two cells, in memory, whose calls may take a quarter of a second and are repeated at once."""
    monkeypatch.setattr(reach, "CALL_SECONDS", 0.25)
    monkeypatch.setattr(reach, "PAUSES", (0.0, 0.0))
    there = Remote(f"memory://{tmp_path.name}-faulty")
    copy_cells(Store(stored(tmp_path / "here", REGRETS)), there)
    return there


def test_what_fails_twice_is_tried_a_third_time(remote, tmp_path):
    remote.files = Faulty(remote.files, {"ls": [fail, stall], "cat_file": [fail, fail]})
    assert copy_cells(remote, Store(tmp_path / "back")).new == 2
    assert remote.files.calls.count("ls") == 3


def test_a_stalled_upload_ends_and_the_next_one_works(remote, tmp_path):
    cell, other = sorted(remote.records())
    remote.files.rm(remote._record_path(cell))
    remote.files = Faulty(remote.files, {"pipe_file": [stall] * 3})
    copied = copy_cells(Store(tmp_path / "here"), remote)
    assert "TimeoutError no answer within 0 seconds" in copied.damaged[cell]
    assert list(remote.records()) == [other]
    assert copy_cells(Store(tmp_path / "here"), remote).new == 1


def test_records_that_cannot_be_read_are_named_and_the_exit_code_is_1(remote, tmp_path, capsys, monkeypatch):
    cell, other = sorted(remote.records())
    remote.files.pipe_file(remote._record_path(cell), b"{}")
    command = ["sync", remote.url, str(tmp_path / "back")]
    assert app(command, standalone_mode=False) == 1
    shown = capsys.readouterr()
    assert "1 new, 0 already there, 1 damaged or out of reach and left out" in shown.out
    assert f"left out: {cell}: " in shown.err
    unreadable = Faulty(remote.files, {})
    unreadable.cat = lambda paths, on_error: {path: ConnectionError("no route") for path in paths}
    unreadable.cat_file = fail
    monkeypatch.setattr(remote, "files", unreadable)
    copied = copy_cells(remote, Store(tmp_path / "again"))
    assert copied.new == 0
    assert {"no route" in reason for reason in copied.damaged.values()} == {True}
    assert set(copied.damaged) == {cell, other}


def test_damaged_cells_of_a_folder_are_named_too(stored, tmp_path):
    here = Store(stored(tmp_path / "here", REGRETS))
    cell, other = (path.stem for path in here.paths())
    (here.folder / f"{cell}.json").write_bytes(b"{}")
    (here.folder / f"{other}.parquet").write_bytes(b"PAR1")
    copied = copy_cells(here, Remote(f"memory://{tmp_path.name}"))
    assert (copied.new, set(copied.damaged)) == (0, {cell, other})


def test_a_url_without_results_is_an_error(tmp_path):
    with pytest.raises(ShowdownError, match="there are no results in memory://nowhere"):
        app(["sync", "memory://nowhere", str(tmp_path)], standalone_mode=False)


def test_a_place_that_is_gone_is_not_asked_for_each_cell(remote, tmp_path, monkeypatch):
    copier = _Copier(Store(tmp_path / "here"), remote)
    monkeypatch.setattr(remote, "files", Faulty(remote.files, {}))
    remote.files.cat_file = fail
    (cell, *_) = remote.records()
    answers = [copier(cell) for _ in range(MOST_FAILURES + 2)]
    assert ["was not tried" in answer for answer in answers] == [False] * MOST_FAILURES + [True] * 2


def test_urls(tmp_path):
    assert is_url("s3://bucket/x")
    assert not is_url("results")
    assert not is_url(f"file://{tmp_path}")
    assert opened(f"file://{tmp_path}").directory == tmp_path
    with pytest.raises(UsageError, match="nonsense://x cannot be used"):
        Remote("nonsense://x")
