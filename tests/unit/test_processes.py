"""Cells in several processes: the same numbers, and one that dies costs no other."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.bench import engines
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits, engine_names, make_engine
from showdown.bench.engines import processes
from showdown.bench.plan import Planned, plan
from showdown.bench.store import Store
from showdown.bench.suite import Suite
from showdown.config import config
from showdown.problems import problems
from showdown.protocol.policy import Policy

SHOWDOWN = [sys.executable, "-c", "from showdown.cli.main import main; main()"]
DEADLY = '''
"""A policy that takes its whole process with it, as running out of memory does."""
import os, signal
import jax.numpy as jnp
from showdown.config import config
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.protocol.work import Work


@config
class Deadly(Policy):
    dose: int = 1

    def init(self, key, spec):
        if self.dose > 2:
            os._exit(3)
        os.kill(os.getpid(), signal.SIGKILL)

    def act(self, key, state, situation):
        return jnp.int32(0)

    def work(self, spec, horizon):  # or its programs would be counted, in this process
        return Work("linear", horizon, 0)


policies.add("Deadly", Deadly())
'''


def test_a_script_that_starts_itself_again_is_told_how_not_to(monkeypatch, tmp_path):
    """What multiprocessing says of it fills a screen; a script without the guard meets it at `sd.recommend`."""
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(UsageError, match=r"started once more by itself.*below `if __name__ == '__main__':`"):
        processes.Worker(tmp_path, RunLimits())


def suite(*policies: str) -> Suite:
    return Suite(name="tiny", policies=policies, problems=("wheel-0.5",), trials=2, horizon=30)


def test_the_numbers_are_those_of_one_process(tmp_path):
    stores = [Store(tmp_path / name) for name in ("one", "two")]
    asked = suite("Uniform", "LinGreedy")
    list(make_engine("local", stores[0]).run(plan(asked, stores[0]), RunLimits()))
    seen: dict[str, int] = {}

    def progress(cell, steps):
        seen[cell.policy_name] = seen.get(cell.policy_name, 0) + steps

    planned = plan(asked, stores[1])
    engine = make_engine("processes", stores[1])
    results = list(engine.run(planned, RunLimits(processes=2, progress=progress)))
    assert {(result.cell.policy_name, result.status) for result in results} == {
        ("Uniform", "done"),
        ("LinGreedy", "done"),
    }
    assert seen == {"Uniform": 60, "LinGreedy": 60}
    one, two = (store.frame().sort_values(["policy", "trial"]) for store in stores)
    assert np.array_equal(one["cumulative"], two["cumulative"])
    assert set(one["beside"]) == {0}
    assert set(two["beside"]) == {1}
    again = list(engine.run(plan(asked, stores[1]), RunLimits(processes=2)))
    assert all(not result.new for result in again)


def test_a_process_that_dies_costs_its_own_cell_alone_and_is_replaced(tmp_path):
    """Both processes die first, so that what follows is played by new ones."""
    file = tmp_path / "deadly_policy.py"
    file.write_text(DEADLY)
    options = ["--problems", "wheel-0.5", "--trials", "2", "--horizon", "30", "--processes", "2", "--json"]
    played = ["--load", str(file), "--policies", "Deadly,Deadly[dose=3],Uniform,LinGreedy"]
    command = [*SHOWDOWN, "run", *played, *options, "--out", str(tmp_path / "results")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    found = {cell["policy"]: (cell["status"], cell["reason"]) for cell in json.loads(done.stdout)["cells"]}
    assert found["Uniform"] == found["LinGreedy"] == ("done", "")
    assert "killed by signal 9; if memory ran out, fewer --processes" in found["Deadly"][1]
    assert "its process ended with code 3" in found["Deadly[dose=3]"][1]
    status = {record.policy: record.status for record in Store(tmp_path / "results").cells()}
    assert status == {"Deadly": "error", "Deadly[dose=3]": "error", "Uniform": "done", "LinGreedy": "done"}


def test_a_cell_that_compiles_too_long_is_given_up(tmp_path):
    """`--cell-seconds` with processes: nothing but killing stops a program that compiles."""
    source = DEADLY.replace("os.kill(os.getpid(), signal.SIGKILL)", "import time; time.sleep(300)")
    (tmp_path / "slow_policy.py").write_text(source)
    options = ["--problems", "wheel-0.5", "--trials", "2", "--horizon", "30", "--processes", "2"]
    names = ["--load", "slow_policy.py", "--policies", "Deadly", "--out", "results", "--cell-seconds", "3", "--json"]
    command = [*SHOWDOWN, "run", *names, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    (cell,) = json.loads(done.stdout)["cells"]
    assert (cell["status"], cell["reason"]) == ("timeout", "took longer than the 3 seconds allowed for a cell")
    assert [record.status for record in Store(tmp_path / "results").cells()] == ["timeout"]


def test_a_limit_for_all_cells_gives_up_what_is_not_finished_in_the_order_given(tmp_path):
    planned = plan(suite("Uniform", "LinGreedy"), Store(tmp_path))
    for name in ("local", "processes"):
        results = list(make_engine(name, Store(tmp_path)).run(planned, RunLimits(all_seconds=0.0, processes=1)))
        assert [result.cell.policy_name for result in results] == ["Uniform", "LinGreedy"]
        assert {result.status for result in results} == {"timeout"}
        assert results[1].reason == "not begun within the 0 seconds allowed for all cells"


def test_what_cannot_be_handed_over_is_one_sentence(tmp_path):
    @config
    class Local(Policy):
        def init(self, key, spec):
            return ()

        def act(self, key, state, situation):
            return jnp.int32(0)

    store = Store(tmp_path)
    cell = Cell("Local", "linear", Local(), problems.get("linear"), 1, 0)
    with pytest.raises(UsageError, match="Local on linear cannot be handed to another process"):
        list(make_engine("processes", store).run([Planned(cell, [("Local", "linear")], False)], RunLimits(processes=2)))


def test_impossible_limits_are_refused():
    for name, value in (("processes", 0), ("batch_trials", 0), ("cell_seconds", -1.0), ("cell_seconds", float("nan"))):
        with pytest.raises(UsageError, match=name):
            RunLimits(**{name: value})


def test_an_engine_is_a_file(tmp_path, monkeypatch):
    """Adding one touches nothing else."""
    assert engine_names() == ["local", "processes", "ray"]
    (tmp_path / "nowhere.py").write_text("def engine(store):\n    return ('nowhere', store)\n")
    monkeypatch.setattr("showdown.bench.engines.__path__", [*engines.__path__, str(tmp_path)])
    assert engine_names() == ["local", "nowhere", "processes", "ray"]
    assert make_engine("nowhere", "a store") == ("nowhere", "a store")
    with pytest.raises(UsageError, match="did you mean 'nowhere'"):
        make_engine("nowhere2", Store(tmp_path))


@pytest.mark.parametrize(
    ("send", "number", "code", "told"),
    [
        # as a terminal sends it, to the whole group; the plan is longer than a pipe holds
        (os.killpg, signal.SIGINT, 130, "stopped; every finished cell is kept"),
        # as `timeout` and a batch system do, to the first process alone
        (os.kill, signal.SIGTERM, 143, "stopped; every finished cell is kept"),
        # as a machine without memory does
        (os.kill, signal.SIGKILL, -9, ""),
    ],
)
def test_no_process_outlives_the_first(tmp_path, send, number, code, told):
    policies = ",".join(f"LinPost[prior_precision={value}.0]" for value in range(1, 100))
    options = ["--problems", "wheel-*", "--trials", "2", "--horizon", "30", "--processes", "2"]
    process = subprocess.Popen(
        [*SHOWDOWN, "run", "--policies", policies, *options, "--out", str(tmp_path / "results")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: len(list(tmp_path.glob("results/cells/*.json"))) > 1)  # both processes are at work
    send(process.pid, number)
    process.wait(timeout=60)
    wait_until(lambda: not members(process.pid))
    assert process.returncode == code
    assert told in process.communicate()[1]


def wait_until(happened: Callable[[], bool], seconds: float = 60) -> None:
    began = time.monotonic()
    while not happened():
        assert time.monotonic() - began < seconds
        time.sleep(0.1)


def members(group: int) -> list[int]:
    """Processes of a group that are alive, zombies not counted."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, _, their_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(their_group) == group and state != "Z":
                found.append(int(folder.name))
    return found
