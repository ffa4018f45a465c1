"""Cells on a Ray cluster: the same numbers, workers that die, a run that is stopped. One cluster for all tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.bench.engine import RunLimits, make_engine
from showdown.bench.engines import _ray_watch
from showdown.bench.engines import ray as ray_engine
from showdown.bench.engines._ray_cluster import connected, slots
from showdown.bench.plan import Planned, plan
from showdown.bench.store import Store
from showdown.bench.suite import Suite
from showdown.config.registry import load_file

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'bandit-showdown[ray]'"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),  # of Ray itself
]
TWO_WORKERS = RunLimits(processes=2)
MORTAL = '''
"""A policy that takes its whole worker with it: every time, or only while a file is missing."""
import os, signal
from pathlib import Path
import jax.numpy as jnp
from showdown.config import config
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.protocol.work import Work


@config
class Mortal(Policy):
    marker: str = ""

    def init(self, key, spec):
        if not (self.marker and Path(self.marker).exists()):
            if self.marker:
                Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return ()

    def act(self, key, state, situation):
        return jnp.int32(0)

    def work(self, spec, horizon):  # or its programs would be counted, in this process
        return Work("linear", horizon, 0)


policies.add("Mortal", Mortal())
'''


def listening() -> set[tuple[str, str]]:
    """Addresses and inodes of the sockets of this machine that wait for connections from anywhere but itself."""
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            loopback = fields[1].startswith(("0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"))
            if fields[3] == "0A" and not loopback:
                found.add((fields[1], fields[9]))
    return found


@pytest.fixture(scope="module", autouse=True)
def cluster():
    if find_spec("ray") is None:
        yield None
        return
    os.environ["PYTHONPATH"] = str(Path(ray_engine.__file__).parents[3])  # for the workers
    before = listening()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with connected(TWO_WORKERS, 1 << 20) as ray:
            assert listening() <= before, "the cluster can be reached from the network"
            yield ray


def suite(*policies: str, horizon: int = 30) -> Suite:
    return Suite(name="tiny", policies=policies, problems=("wheel-0.5",), trials=2, horizon=horizon)


def test_the_numbers_are_those_of_one_process(tmp_path):
    stores = [Store(tmp_path / name) for name in ("one", "two")]
    asked = suite("Uniform", "LinGreedy")
    list(make_engine("local", stores[0]).run(plan(asked, stores[0]), RunLimits()))
    seen: dict[str, int] = {}

    def progress(cell, steps):
        seen[cell.policy_name] = seen.get(cell.policy_name, 0) + steps

    engine = make_engine("ray", stores[1])
    results = list(engine.run(plan(asked, stores[1]), RunLimits(processes=2, progress=progress)))
    assert {(result.cell.policy_name, result.status, result.new) for result in results} == {
        ("Uniform", "done", True),
        ("LinGreedy", "done", True),
    }
    assert seen == {"Uniform": 60, "LinGreedy": 60}
    one, two = (store.frame().sort_values(["policy", "trial"]) for store in stores)
    for column in ("cumulative", "simple", "reward", "accuracy"):
        assert np.array_equal(one[column], two[column], equal_nan=True), column
    assert set(two["beside"]) == {1}
    assert not stores[1].warnings
    assert all(not result.new for result in engine.run(plan(asked, stores[1]), TWO_WORKERS))


def test_a_cell_whose_worker_dies_is_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_engine, "ATTEMPTS", 2)
    file = tmp_path / "mortal_policy.py"
    file.write_text(MORTAL)
    load_file(file)
    once = f"Mortal[marker={tmp_path / 'died'}]"
    store = Store(tmp_path / "results")
    limits = RunLimits(processes=2, load=(file,))
    results = make_engine("ray", store).run(plan(suite("Mortal", once), store), limits)
    status = {result.cell.policy_name: (result.status, result.reason) for result in results}
    assert (tmp_path / "died").exists()
    assert status[once] == ("done", "")
    assert status["Mortal"][0] == "error"
    assert "its worker died 2 times (Ray says WorkerCrashedError)" in status["Mortal"][1]
    assert {record.policy: record.status for record in store.cells()} == {"Mortal": "error", once: "done"}


PLUGIN = """
import jax.numpy as jnp
from showdown.config import config
from showdown.protocol.policy import Policy

@config
class Absent(Policy):
    def init(self, key, spec):
        return ()

    def act(self, key, state, situation):
        return jnp.int32(0)
"""


def test_a_plug_in_that_a_worker_lacks_costs_its_own_cell_alone(tmp_path, monkeypatch):
    """The driver can import the package and the workers cannot, since they were started before."""
    (tmp_path / "plug_in_of_the_driver.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    import plug_in_of_the_driver

    store = Store(tmp_path / "results")
    (planned,) = plan(suite("Uniform"), store)
    cell = replace(planned.cell, policy_name="Absent", policy=plug_in_of_the_driver.Absent())
    absent = Planned(cell, [("Absent", "wheel-0.5")], False)
    results = {each.cell.policy_name: each for each in make_engine("ray", store).run([absent, planned], TWO_WORKERS)}
    assert results["Uniform"].status == "done"
    assert results["Absent"].status == "error"
    assert "ModuleNotFoundError: No module named 'plug_in_of_the_driver'" in results["Absent"].reason
    assert {record.policy: record.status for record in store.cells()} == {"Absent": "error", "Uniform": "done"}


LEAVES = """
import subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import _ray_watch
watcher = _ray_watch.start()
child = subprocess.Popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip(), flush=True)
time.sleep(300)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_driver_leaves_is_ended(number, monkeypatch):
    folder = Path(ray_engine.__file__).parent
    driver = subprocess.Popen([sys.executable, "-c", LEAVES, str(folder)], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    left = int(driver.stdout.readline())
    time.sleep(2.5 * _ray_watch.LOOK_SECONDS)  # so that the watcher has seen it
    driver.send_signal(number)
    driver.communicate()
    began = time.monotonic()
    while _ray_watch._about(left) is not None:
        assert time.monotonic() - began < 30
        time.sleep(0.1)


def test_a_run_that_is_stopped_is_continued(tmp_path):
    """As Ctrl-C does: an exception while cells are played. Their tasks are cancelled and their claims given up."""
    store = Store(tmp_path)
    asked = suite(*(f"LinGreedy[prior_precision={value}.0]" for value in (1, 2, 3, 4)))
    running = make_engine("ray", store).run(plan(asked, store), TWO_WORKERS)
    first = next(running)
    with pytest.raises(KeyboardInterrupt):
        running.throw(KeyboardInterrupt)
    assert not list(tmp_path.glob("cells/.lock-*"))
    results = list(make_engine("ray", store).run(plan(asked, store), TWO_WORKERS))
    assert len(results) == 4
    assert first.cell.hash in {result.cell.hash for result in results if not result.new}
    assert all(result.status == "done" for result in results)


def test_what_the_cluster_does_not_have_is_refused(cluster):
    assert slots(cluster, RunLimits(cell_cpus=0.5)) == (4, 4)
    with pytest.raises(UsageError, match="no machine of the Ray cluster has the 1 CPU and 64 GPU"):
        slots(cluster, RunLimits(cell_gpus=64))
    with pytest.raises(UsageError, match="both 0"):
        slots(cluster, RunLimits(cell_cpus=0))


def test_a_cluster_is_on_this_machine_alone(cluster):
    address = cluster.nodes()[0]["NodeManagerAddress"]
    assert socket.getaddrinfo(address, None)[0][4][0] == "127.0.0.1"
