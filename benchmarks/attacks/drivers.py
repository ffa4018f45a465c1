"""Ray drivers that are killed or stopped while they play: what they leave behind, and what is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from attacks import Score
from showdown.bench.engines import _ray_watch
from showdown.bench.store import Store
from showdown.bench.verify import DAMAGED, check_store

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
GONE_SECONDS = 30  # after which no process of the driver's may be left


def killed_drivers(directory: Path, signals: tuple[signal.Signals, ...] = SIGNALS) -> Score:
    """Processes that outlive their driver count as hung, damaged cells as silent."""
    score = Score("a Ray driver is killed or stopped")
    for number, each in enumerate(signals):
        folder = directory / str(number)
        policies = ",".join(f"LinPost[prior_precision={value}.0]" for value in range(1, 60))
        options = ("--problems", "wheel-0.5", "--trials", "2", "--horizon", "30", "--processes", "2", "--engine", "ray")
        command = [sys.executable, "-m", "showdown", "run", "--policies", policies, *options, "--out", str(folder)]
        with score.attempt():
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            driver = subprocess.Popen(command, **quiet, start_new_session=True)  # type: ignore[call-overload]
            while len(list(folder.glob("cells/*.json"))) < 2 and driver.poll() is None:
                time.sleep(0.2)
            time.sleep(2 * _ray_watch.LOOK_SECONDS)
            started = _ray_watch.descendants(driver.pid)
            os.kill(driver.pid, each)
            driver.wait()
            until = time.monotonic() + GONE_SECONDS
            while (left := _ray_watch._alive(started)) and time.monotonic() < until:
                time.sleep(0.2)
            score.hung += bool(left) or not started
            score.silent += sum(finding.state == DAMAGED for finding in check_store(Store(folder)))
    return score
