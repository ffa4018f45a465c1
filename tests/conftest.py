"""Shared by all tests: constant seeds, no network, a private compilation cache, and problems that tests script."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import threading
from functools import cache
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ.setdefault("SHOWDOWN_CACHE", tempfile.mkdtemp(prefix="showdown-tests-"))

# Compiling is most of the time of these tests. Without LLVM's passes and XLA's newer way of writing kernels it takes
# half as long; results differ in their last bits. `compiled_as_for_users` takes that back for a test.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false")

# `nohup make test &` starts us with Ctrl-C ignored, and whatever a test starts would inherit that
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

import jax
import numpy as np
import pytest
import typer.main

from showdown.bench import record_file
from showdown.bench.cell import Cell, identity_hash
from showdown.bench.store import Store
from showdown.play import compile_once
from showdown.play.simulate import Outcome
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import ProblemSpec
from showdown.testing import play, scripted

MOST_MAPS = 25_000  # of the 65,530 memory areas that Linux lets a process have; every compiled program takes a few
CHECK_EVERY = 25  # tests
AS_FOR_USERS = {"xla_backend_optimization_level": 3, "xla_cpu_use_fusion_emitters": True}
_finished = 0

typer.main.get_command = cache(typer.main.get_command)  # 0.04 s at each of the hundreds of calls of the command


def pytest_runtest_teardown(item):
    """Free compiled programs in time: a process without memory areas left dies, and takes its tests with it."""
    global _finished
    _finished += 1
    maps = Path("/proc/self/maps")
    if _finished % CHECK_EVERY == 0 and maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPS:
        compile_once.forget_all()
        jax.clear_caches()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker takes a file, where the tests do not say otherwise: they share compiled programs and fixtures."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(name="script")
def give_scripted():
    """Call with contexts and rewards to get a problem that plays them."""
    return scripted


@pytest.fixture(name="play")
def give_play():
    """Play trials through the compiled loop and return every action, which `simulate` itself only counts."""
    return play


ABOUT = {
    "finished": "2026-01-01T00:00:00.000+00:00",
    "versions": {"showdown": "0.0.1", "jax": "0.0.2"},
    "hardware": {"device": "abacus", "cores": 2},
}


def written_cell(policy: str, problem: str, trials: int, number: int) -> Cell:
    """A cell under any names at all; those that mean no preset stand for a configuration of their own."""
    return Cell(
        policy,
        problem,
        policies.get(policy if policy in policies else f"LinPost[prior_precision={1 + number}]"),
        problems.get(problem if problem in problems else f"wheel[noise={1 + sum(map(ord, problem))}]"),
        trials,
        0,
    )


@pytest.fixture(scope="session")
def change_cell():
    """Call with a record's file and new values of its fields: the cell is stored as if it had been played with them.

    Another horizon makes it another cell; with `keep` the one before stays.
    """

    def change(path: Path, *, keep: bool = False, **fields) -> Path:
        data = {**json.loads(path.read_text()), **fields}
        data["identity"]["problem"]["horizon"] = data["horizon"]
        data["identity"]["loop"] = fields.get("loop", data["identity"]["loop"])
        data["cell"] = identity_hash(data["identity"])
        new = path.with_stem(data["cell"])
        new.write_bytes(record_file.to_bytes(record_file.sealed(data)))
        if new != path and path.with_suffix(".parquet").exists():
            shutil.copy(path.with_suffix(".parquet"), new.with_suffix(".parquet"))
        if new != path and not keep:
            path.unlink()
            path.with_suffix(".parquet").unlink(missing_ok=True)
        return new

    return change


@pytest.fixture(scope="session")
def stored():
    """Call with a folder, {(policy, problem): final regret of each trial} and {(policy, problem): (status, reason)}.

    The cells are written, not played: regret grows with the square root of time, at `checkpoints` points; `columns`
    gives those of further metrics from the final regrets.
    """

    def write(folder: Path, finished: dict, failed: dict | None = None, *, checkpoints: int = 8, columns=None) -> Path:
        store = Store(folder)
        for number, ((policy, problem), regrets) in enumerate(finished.items()):
            cell = written_cell(policy, problem, len(regrets), number)
            final = np.asarray(regrets, float)
            steps = np.linspace(0, cell.problem.horizon, checkpoints + 1)[1:].astype(int)
            curve = final[:, None] * np.sqrt(steps / steps[-1])
            outcome = Outcome(
                columns={
                    "cumulative": final,
                    "cumulative_expected": final,
                    "simple": np.sqrt(final),
                    "simple_expected": np.sqrt(final),
                    "reward": 1 - final / steps[-1],
                    "reward_fixed": np.full(len(final), 0.25),
                    "accuracy": 1 / (1 + final),
                    "accuracy_fixed": np.full(len(final), 0.5),
                    **(columns(final) if columns else {}),
                },
                curves={"curve": curve, "curve_expected": curve},
                steps=steps,
                action_counts=np.tile([3, 2, 1], (len(final), 1)),
                spec=ProblemSpec(2, 3),
                compile_seconds=1.0,
                run_seconds=0.5 + number % 7,
                batch_trials=len(final),
            )
            store.write_done(cell, [(policy, problem)], outcome, ABOUT)
        for number, ((policy, problem), (status, reason)) in enumerate((failed or {}).items()):
            cell = written_cell(policy, problem, 2, 1000 + number)
            store.write_failed(cell, [(policy, problem)], status, reason, ABOUT)
        return folder

    return write


@pytest.fixture(scope="session")
def write_tuning():
    """Call with the folder of a store and names to put a finished tuning of three candidates into it."""

    def write(folder: Path, policy: str = "LinPost", field: str = "prior_precision", **changes) -> Path:
        fields = {
            field: {"scale": "log", "low": 0.001, "high": 1000.0, "options": [], "default": 0.25},
            "layers": {"scale": "choices", "low": None, "high": None, "options": [[], [50]], "default": [50]},
        }
        problems, rest = {"wheel-0.5": {}}, {"objective": "cumulative", "combine": "regret", "trials": 2}
        candidates = [{field: value, "layers": layers} for value, layers in ((0.25, [50]), (2.0, []), (90.0, [50]))]
        row = {"problem": "wheel-0.5", "chosen": 10.0, "default": 20.0, "difference": -10.0, "low": -12.0, "high": -8.0}
        data = {
            "format": 1,
            "key": "none",
            "request": {"policy": policy, "fields": fields, "problems": problems, "sampler": "gp", **rest},
            "batches": [candidates[:2], candidates[2:]],
            "preset": f"{policy}@wheel-0.5",
            "values": [20.0, 9.0, None],
            "parts": [1.0, 1.0, 0.125],
            "importance": {field: 0.75, "layers": 0.25},
            "result": {
                "candidate": candidates[1],
                "spelled": f"{policy}[{field}=2.0]",
                "is_default": False,
                "problems": [{**row, "wins": 2, "trials": 2}],
                "finalists": [],
            },
            **changes,
        }
        (folder / "tuning").mkdir(exist_ok=True)
        path = folder / "tuning" / "a.json"
        path.write_text(json.dumps(data))
        return path

    return write


@pytest.fixture
def compiled_quickly():
    """Nothing: every test is, by the flags above."""


@pytest.fixture
def compiled_as_for_users(monkeypatch):
    """With all passes of the compiler: for what hangs on the last bit, and where play takes longer than compiling."""
    monkeypatch.setattr(compile_once, "_options", lambda: AS_FOR_USERS)
    compile_once.forget_all()
    yield
    compile_once.forget_all()
