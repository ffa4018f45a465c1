"""Memory: every limit counts, a batch that does not fit is halved, and the impossible is refused at once."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.machine import resources
from showdown.play import batches, memory
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import ProblemSpec

GIB = 1 << 30
WHEEL = problems.get("wheel-0.5")


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Call with the files of a made-up system."""
    monkeypatch.setattr(resources, "PROC", tmp_path / "proc")
    monkeypatch.setattr(resources, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(resources, "process_free", list)

    def write(files: dict[str, str]) -> None:
        for name, text in {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    8388608 kB\n", **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return write


def test_the_machine_alone(system):
    system({})
    assert resources.host_free_bytes() == 8 * GIB
    assert resources.host_free_bytes(sharers=4) == 2 * GIB


def test_a_cgroup_of_version_2_and_those_above_it(system):
    files = {
        "proc/self/cgroup": "0::/jobs/mine\n",
        "cgroup/jobs/mine/memory.max": "max\n",
        "cgroup/jobs/mine/memory.current": "5\n",
        "cgroup/jobs/memory.max": f"{3 * GIB}\n",
        "cgroup/jobs/memory.current": f"{2 * GIB}\n",
        "cgroup/jobs/memory.stat": f"anon 7\ninactive_file {GIB}\n",  # given up when asked
    }
    system(files)
    assert resources.host_free_bytes() == 2 * GIB
    system({**files, "cgroup/jobs/mine/memory.max": f"{GIB + 5}\n"})
    assert resources.host_free_bytes() == GIB


def test_a_cgroup_of_version_1_whose_path_is_not_visible(system):
    system(
        {
            "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/abc\n0::/\n",
            "cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n",
            "cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
        }
    )
    assert resources.host_free_bytes() == GIB


def test_a_cgroup_that_is_full_leaves_nothing(system):
    system({"proc/self/cgroup": "0::/\n", "cgroup/memory.max": "10\n", "cgroup/memory.current": "20\n"})
    assert resources.host_free_bytes() == 0


@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process(kind):
    program = f"""
import resource
from showdown.machine.resources import host_free_bytes
resource.setrlimit(resource.{kind}, (1 << 28, 1 << 28))
print(host_free_bytes(), host_free_bytes(sharers=1000))"""
    free, shared = map(int, run(program).split())
    assert 0 < free < 1 << 28
    assert shared <= free


def run(program: str) -> str:
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


PROMPT = 2.0  # seconds; it takes a tenth of a second on an idle machine


def simulated(policy):
    simulate(policy, problems.get("linear[context_dim=3000,num_actions=1000]"), trials=1)


def made_an_agent(policy):
    Agent(policy, context_dim=3000, num_actions=1000)


@pytest.mark.parametrize("attempt", [simulated, made_an_agent])
def test_a_state_that_cannot_fit_is_refused_at_once(monkeypatch, attempt):
    """LinFullPost keeps two matrices of 3001 × 3001 for each of 1000 actions, 72 GB."""
    monkeypatch.setattr(memory, "free_bytes", lambda: 20 * 10**9)
    policy, began = policies.get("LinFullPost"), time.perf_counter()
    with pytest.raises(UsageError, match=r"needs 72\.\d GB for its state, and 20\.0 GB are free") as refused:
        attempt(policy)
    assert time.perf_counter() - began < PROMPT
    actions, features = map(int, re.findall(r"(\d+) (?:actions at|features at)", str(refused.value)))
    assert 270 < actions < 280  # 20 / 72 of 1000
    assert 1570 < features < 1590  # √(20 / 72) of 3000


def test_what_fits_nowhere_is_said_to(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 2)
    with pytest.raises(UsageError, match="no smaller problem would fit"):
        memory.check_state(policies.get("LinFullPost"), ProblemSpec(3, 3))


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"trials": 99_999_999_999}, "results of 99999999999 trials need .* TB.* at most .* trials would fit"),
        ({"trials": 1, "horizon": 2_000_000_000}, "one trial of 2000000000 steps needs .* steps would fit"),
    ],
)
def test_sizes_that_cannot_fit_are_refused_at_once(monkeypatch, sizes, says):
    monkeypatch.setattr(memory, "free_bytes", lambda: 10**9)
    began = time.perf_counter()
    with pytest.raises(UsageError, match=says):
        simulate(policies.get("LinFullPost"), WHEEL, **sizes)
    assert time.perf_counter() - began < PROMPT


@pytest.mark.parametrize(
    "error",
    [
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1600000000 bytes."),
        jax.errors.JaxRuntimeError("INTERNAL: YNNPACK operation failed: error"),
        MemoryError("std::bad_alloc"),
    ],
)
def test_a_batch_that_runs_out_of_memory_is_halved(monkeypatch, error):
    whole = simulate(policies.get("Uniform"), WHEEL, trials=7, horizon=40)
    play_batches, sizes = batches._play_batches, []

    def limited(prepared, programs, seed, parts, recorders, progress):
        sizes.extend(map(len, parts))
        ended = play_batches(prepared, programs, seed, parts, recorders, progress)
        if len(parts[0]) > 3:
            raise error  # after every step of it was reported
        return ended

    monkeypatch.setattr(batches, "_play_batches", limited)
    steps = []
    halved = simulate(policies.get("Uniform"), WHEEL, trials=7, horizon=40, progress=steps.append)
    assert sizes == [7, 3, 3, 3]
    assert sum(steps) == 7 * 40  # each is reported once
    np.testing.assert_array_equal(halved.curve, whole.curve)
    with pytest.raises(UsageError, match="memory ran out with 7 trials at a time"):
        simulate(policies.get("Uniform"), WHEEL, trials=7, horizon=40, batch_trials=7)


def test_other_errors_are_raised_as_they_are(monkeypatch):
    def fail(*arguments):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")

    monkeypatch.setattr(batches, "_play_batches", fail)
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        simulate(policies.get("Uniform"), WHEEL, trials=7, horizon=40)


def test_what_the_cpu_really_raises_is_understood():
    """Nothing says how much is free, and the process may take less than all trials together need."""
    program = """
import resource
import jax, jax.numpy as jnp
from showdown.play import memory
from showdown.config import config
from showdown.protocol.policy import Policy
from showdown.problems import problems
from showdown.play.simulate import simulate

@config
class Roomy(Policy):
    refit_every: int = 10

    def init(self, key, spec):
        return jnp.ones(3000)

    def act(self, key, state, situation):
        return jnp.int32(0)

    def refit(self, key, state, history):
        return jnp.tanh(jnp.cos(jnp.outer(state, state)) @ state)

memory.free_bytes = lambda: None
wheel = problems.get("wheel-0.5")
simulate(Roomy(), wheel, trials=1, horizon=10)
used = 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1])
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)  # a trial needs 36 MB
print(simulate(Roomy(), wheel, trials=8, horizon=10).batch_trials)"""
    assert 1 <= int(run(program)) < 8
