"""Stores behind a URL: what is uploaded is whole, what is there is not played again, and writers do not disturb others.

In memory always; on an S3 server of moto's on 127.0.0.1 where s3fs and moto are installed (`benchmarks/s3_store.py`).
"""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench import record_file
from showdown.bench.remote import Mirror, Remote, copy_cells, is_url, opened
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
    assert copied.damaged == [cell]
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
    put, cells = mirror.remote._put, [path.stem for path in mirror.store.paths()]

    def broken(path: str, content: bytes) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr(mirror.remote, "_put", broken)
    assert "no route" in mirror.upload(cells[0])
    with pytest.raises(ShowdownError, match="1 finished cells are kept in"):
        mirror.finish()
    monkeypatch.setattr(mirror.remote, "_put", put)
    mirror.finish()
    assert list(mirror.remote.records()) == [cells[0]]


def test_urls(tmp_path):
    assert is_url("s3://bucket/x")
    assert not is_url("results")
    assert not is_url(f"file://{tmp_path}")
    assert opened(f"file://{tmp_path}").directory == tmp_path
    with pytest.raises(UsageError, match="nonsense://x cannot be used"):
        Remote("nonsense://x")
