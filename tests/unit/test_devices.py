"""Trials spread over eight virtual devices of the CPU: the numbers of one device. All in one process of its own."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import pytest

from showdown.play import memory
from showdown.play.batch_size import equal

WORKER = Path(__file__).parent / "fixtures" / "play_on_devices.py"


@pytest.fixture(scope="module")
def eight():
    """What a process with eight devices found."""
    flags = f"--xla_force_host_platform_device_count=8 {os.environ.get('XLA_FLAGS', '')}"
    environment = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, WORKER], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.timeout(300)
def test_the_numbers_are_those_of_one_device(eight):
    here = runpy.run_path(str(WORKER))["played"]()  # this process has one
    assert (eight["devices"], jax.local_device_count()) == (8, 1)
    assert set(eight["numbers"]) == set(here)
    for name, numbers in here.items():
        assert eight["numbers"][name] == numbers, name


def test_each_device_has_its_share(eight):
    """Of 11 trials two each, which leaves five that nobody asked for."""
    assert eight["placed"] == [8, 2]


def test_with_little_memory_there_are_more_batches_with_the_same_numbers(eight):
    assert eight["batches"] == {"plenty": 11, "little": 8, "exhausted": 8}


def test_batches_are_multiples_of_the_devices():
    assert [equal(trials, trials, 8) for trials in (1, 8, 50, 64)] == [8, 8, 56, 64]
    assert equal(50, 16, 8) == 16
    assert equal(50, 3, 8) == 8
    assert equal(50, 20) == 17


def test_the_device_with_least_memory_decides(monkeypatch):
    sizes = (80, 40, 60)
    devices = [
        SimpleNamespace(memory_stats=lambda size=size: {"bytes_limit": size << 30, "bytes_in_use": 1 << 30})
        for size in sizes
    ]
    monkeypatch.setattr(jax, "local_devices", lambda: devices)
    assert memory.free_bytes() == 39 << 30
