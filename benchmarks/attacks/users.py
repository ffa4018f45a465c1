"""Several users on one folder, odd things in the place of a lock, and a holder of a lock that is stopped."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from attacks import Score, made_cell, made_store, write_cell
from showdown.basics.errors import ShowdownError
from showdown.basics.locks import LOCK, locked
from showdown.bench.engine import CellResult, RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store

HOLD = "import sys, time\nfrom pathlib import Path\nfrom showdown.basics.locks import locked\n" + (
    "with locked(Path(sys.argv[1])) as held:\n    print(held, flush=True)\n    time.sleep(120)\n"
)
NOBODY = 65534


def hold(path: Path) -> subprocess.Popen[str]:
    """A process that holds a lock; it has it when this returns."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def another_user(work: object, *arguments: object) -> int:
    """The exit code of a fork that does `work` as the user `nobody`; only root may start it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work(*arguments)  # type: ignore[operator]
            code = 0
        except ShowdownError as error:
            print(error, file=sys.stderr)
            code = 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def shared_folders(directory: Path) -> Score:
    """Two users lock and write in one folder that both may write to, with and without the sticky bit."""
    score = Score("two users on one store")
    for number, mode in enumerate((0o777, 0o1777)):
        folder = directory / str(number)
        folder.mkdir(parents=True)
        for above in (folder, *folder.parents):
            if above.stat().st_uid == os.getuid() and not above.stat().st_mode & 1:
                above.chmod(above.stat().st_mode | 0o11)  # so that the other user reaches it
        folder.chmod(mode)
        made_store(folder, 1)
        (folder / "cells" / f"{LOCK}{made_cell(1).hash}").touch(0o644)  # left by a killed process of ours
        with score.attempt():
            score.crashed += another_user(_write_and_lock, folder, 1) != 0
        with score.attempt():
            _write_and_lock(folder, 2)
            score.lost += {record.cell for record in Store(folder).cells()} != {made_cell(n).hash for n in range(3)}
    return score


def _write_and_lock(folder: Path, number: int) -> None:
    store = Store(folder)
    store.prepare()
    with store.claim(made_cell(number).hash) as claimed:
        assert claimed
        write_cell(store, number)


def odd_locks(directory: Path) -> Score:
    """A folder, a link to nothing, to itself, or a pipe where a lock should be: locked, or refused in one sentence."""
    score = Score("odd things in the place of a lock")
    directory.mkdir(parents=True)
    for name, make in {
        "folder": lambda path: path.mkdir(),
        "loop": lambda path: path.symlink_to(path),
        "nowhere": lambda path: path.symlink_to(directory / "missing" / "file"),
        "pipe": lambda path: os.mkfifo(path),
        "nonsense": lambda path: path.write_bytes(os.urandom(5000)),
    }.items():
        path = directory / f"{LOCK}{name}"
        make(path)
        with score.attempt():
            try:
                with locked(path, wait=0.1):
                    pass
            except ShowdownError as error:
                score.silent += name not in str(error)
    return score


def stopped_holder(directory: Path, seconds: float = 1.0) -> Score:
    """A run meets a cell whose player was stopped: it ends in time, and says who has the cell and how to go on."""
    score = Score("a run whose cell was claimed is stopped (SIGSTOP)")
    made_store(directory, 0)
    store, cell = Store(directory), made_cell(0)
    store.prepare()
    process = hold(directory / "cells" / f"{LOCK}{cell.hash}")
    os.kill(process.pid, signal.SIGSTOP)
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)
    try:
        with score.attempt():
            began = time.monotonic()
            limits = RunLimits(cell_seconds=seconds)
            result = Local(store).result(Planned(cell, [("a", "b")], False), limits, wait=True)
            score.hung += time.monotonic() - began > seconds + 5
            score.silent += not _names_the_holder(result, process.pid)
    finally:
        process.kill()
        process.communicate()
    return score


def _names_the_holder(result: CellResult, process: int) -> bool:
    wanted = (f"process {process} of ", f"on {socket.gethostname()}, since 20", f"kill -CONT {process}")
    return result.status == "timeout" and all(words in result.reason for words in wanted)
