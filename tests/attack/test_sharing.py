"""Several runs on one store, processes that are killed, disks that are full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import namedtuple

import pytest

from attacks import call, made_cell, sharing
from showdown.basics.errors import ShowdownError
from showdown.basics.files import TEMPORARY
from showdown.basics.locks import locked
from showdown.bench.compilation import CompileAhead
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store

HOLD = "import sys, time\nfrom pathlib import Path\nfrom showdown.basics.locks import locked\n" + (
    "with locked(Path(sys.argv[1])) as held:\n    print(held, flush=True)\n    time.sleep(60)\n"
)


def test_names_of_several_writers_are_all_kept(tmp_path):
    assert sharing.names_of_writers(tmp_path, writers=3, each=10).withstood


def test_no_cell_is_played_twice(tmp_path):
    assert sharing.runs_on_one_store(tmp_path, runs=3, cells=8).withstood


def test_killed_writers_leave_nothing_half_done(tmp_path):
    assert sharing.killed_writers(tmp_path, kills=3).withstood


def test_a_dead_process_holds_no_lock(tmp_path):
    path = tmp_path / "lock"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    with locked(path, wait=False) as mine:
        assert not mine
    process.kill()
    process.communicate()
    with locked(path, wait=False) as mine:
        assert mine
    assert not path.exists()


def test_only_old_files_of_killed_writers_are_swept(tmp_path):
    store = Store(tmp_path)
    store.prepare()
    names = [f"{TEMPORARY}old", f"{TEMPORARY}new", "old"]
    for name in names:
        (store.folder / name).touch()
        if "old" in name:
            os.utime(store.folder / name, (time.time() - 7200,) * 2)
    store.prepare()
    assert sorted(path.name for path in store.folder.iterdir()) == [f"{TEMPORARY}new", "old"]


def test_a_full_disk_is_noticed_before_a_cell_is_played(tmp_path, monkeypatch):
    monkeypatch.setattr("showdown.bench.play_cell.simulate", None)  # so that playing would fail otherwise
    monkeypatch.setattr(CompileAhead, "before", lambda *_: None)  # no program is used
    monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("usage", "free")(5 << 20))
    with pytest.raises(ShowdownError, match="5 MiB are free"):
        list(Local(Store(tmp_path)).run([Planned(made_cell(0), [("a", "b")], False)], RunLimits()))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only on Linux")
@pytest.mark.parametrize(("output", "code"), [(">/dev/full", 1), (">&-", 1), ("| true", 0)])
def test_a_full_or_closed_output_is_one_sentence(output, code):
    command = f"{sys.executable} -c 'from showdown.cli.main import main; main()' list suites {output}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == code
    assert "Traceback" not in done.stderr


def test_the_commands_refuse_what_is_no_store(tmp_path):
    assert call("verify", str(tmp_path / "nowhere")) == 2
