"""Programs compiled in threads before their cells are played, and kept on disk between runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from showdown.bench.cell import Cell
from showdown.bench.compilation import CompileAhead
from showdown.bench.engine import RunLimits
from showdown.play import compile_once
from showdown.play.compile_once import Job, compile_ahead, compiled_once, is_known
from showdown.play.simulate import simulate
from showdown.policies import policies


def doubling(key: str, began: threading.Event | None = None, go_on: threading.Event | None = None) -> Job:
    def lower():
        if began is not None and go_on is not None:
            began.set()
            assert go_on.wait(30)
        return jax.jit(lambda x: 2 * x).lower(np.float32(0))

    return Job(("test", key), lower)


def test_the_first_use_counts_the_seconds_of_a_program_compiled_ahead():
    job = doubling("ahead")
    assert not is_known(job)
    compile_ahead(job)
    assert is_known(job)
    program, seconds = compiled_once(job)
    assert program(np.float32(3)) == 6
    assert seconds > 0
    assert compiled_once(job) == (program, 0.0)


def test_a_program_that_another_thread_compiles_is_waited_for_and_not_compiled_again():
    began, go_on = threading.Event(), threading.Event()
    job = doubling("shared", began, go_on)
    thread = threading.Thread(target=compile_ahead, args=(job,))
    thread.start()
    assert began.wait(30)
    compile_ahead(job)  # returns at once: it would hang in `lower` otherwise
    go_on.set()
    assert compiled_once(job)[0](np.float32(1)) == 2
    thread.join()


def test_one_that_fails_is_tried_again():
    tries = []

    def lower():
        tries.append(1)
        raise ValueError("of the policy")

    for _ in range(2):
        with pytest.raises(ValueError, match="of the policy"):
            compiled_once(Job(("test", "fails"), lower))
    assert len(tries) == 2


@pytest.fixture
def cells(script):
    problem = script(np.ones((9, 1)), np.tile([1.0, 0.0], (9, 1)))
    return [Cell(name, "toy", policies.get(name), problem, 2, 0) for name in ("Uniform", "LinGreedy", "LinPost")]


def test_playing_finds_everything_compiled(cells, monkeypatch):
    ahead = CompileAhead(cells, RunLimits(), threads=2)
    ahead.before(cells[0])
    ahead.close()
    assert ahead.begun == 3
    before = set(compile_once._programs)
    for cell in cells:
        outcome = simulate(cell.policy, cell.problem, trials=cell.trials)
        assert outcome.compile_seconds > 0
    assert set(compile_once._programs) == before


def test_a_group_is_limited_and_what_cannot_be_played_is_left_to_playing(cells, monkeypatch):
    monkeypatch.setattr("showdown.bench.compilation.PROGRAMS_PER_THREAD", 1)
    begun = []
    monkeypatch.setattr("showdown.bench.compilation.compile_ahead", begun.append)
    monkeypatch.setattr("showdown.bench.compilation.is_known", lambda job: False)
    impossible = Cell("Uniform", "toy", policies.get("Uniform"), cells[0].problem, 0, 0)  # no trials
    ahead = CompileAhead([impossible, *cells], RunLimits(), threads=2)
    ahead.before(impossible)
    assert ahead.begun == 2
    ahead.before(cells[0])  # it was in the first group
    assert len(begun) == 6
    ahead.before(cells[2])  # the cell between them was not played
    assert ahead.begun == 4
    ahead.close()
    limited = CompileAhead(cells, RunLimits(cell_seconds=10.0), threads=2)
    limited.before(cells[0])
    limited.close()
    assert limited.begun == 0  # compiling counts towards the seconds of a cell


def test_only_the_programs_asked_for_last_are_kept(monkeypatch):
    """Each takes some of the memory areas that a process may have."""
    compiled = []

    def job(name: str) -> compile_once.Job:
        made = SimpleNamespace(compile=lambda options: compiled.append(name) or name)
        return compile_once.Job(("kept", name), lambda: made)

    monkeypatch.setattr(compile_once, "MOST", 2)
    monkeypatch.setattr(compile_once, "_programs", {})
    for name in ("a", "b", "a", "c", "a", "b"):  # b is forgotten for c, and c for b
        assert compile_once.compiled_once(job(name))[0] == name
    assert compiled == ["a", "b", "c", "b"]
    compile_once.forget_all()
    assert not compile_once._programs


@pytest.mark.parametrize(
    ("backend", "flags", "chosen"),
    [
        ("cpu", "", False),
        ("gpu", "--xla_dump_to=somewhere", True),
        ("gpu", "--xla_gpu_autotune_level=4", False),
        ("gpu", "--xla_gpu_enable_triton_gemm=true", False),
    ],
)
def test_on_a_gpu_cublas_chooses_the_kernels_unless_the_user_says_how(backend, flags, chosen, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    monkeypatch.setenv("XLA_FLAGS", flags)
    options = compile_once._options()
    assert (options is not None) == chosen
    if options:
        assert options == {"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False}


PROGRAM = """
import jax
from showdown.bench.compilation import use_compilation_cache
use_compilation_cache()
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
print(jax.jit(lambda x: x * 2 + 1)(3))
"""


def test_an_entry_cut_short_is_compiled_again_without_a_word(tmp_path):
    """What a process sees of an entry that another one is writing just then."""

    def run() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "SHOWDOWN_CACHE": str(tmp_path)}
        command = [sys.executable, "-W", "error::UserWarning", "-c", PROGRAM]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert run().stdout == "7\n"
    entries = list((tmp_path / "compiled").glob("*-cache"))
    assert entries
    for entry in entries:
        entry.write_bytes(b"")
    again = run()
    assert (again.stdout, again.stderr) == ("7\n", "")
