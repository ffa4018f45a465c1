"""Cores: those of the affinity, and of them no more than a cgroup gives processor time for."""

from __future__ import annotations

import os

import pytest

from showdown.machine import resources
from showdown.machine.resources import cores


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8),
        ({"proc/self/cgroup": "0::/\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "max 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "150000 100000\n"}, 2),  # rounded up
        ({"proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "20000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "6400000 100000\n"}, 8),  # more than the affinity
        ({"proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "100000 0\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "what?\n"}, 8),
        (  # the group above allows less
            {
                "proc/self/cgroup": "0::/jobs/mine\n",
                "cgroup/jobs/mine/cpu.max": "max 100000\n",
                "cgroup/jobs/cpu.max": "300000 100000\n",
            },
            3,
        ),
        (  # version 1, whose own folder is not visible in a container
            {
                "proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n",
                "cgroup/cpu/cpu.cfs_quota_us": "400000\n",
                "cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        (
            {
                "proc/self/cgroup": "5:cpu:/\n",
                "cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            8,
        ),
    ],
)
def test_a_share_of_processor_time_counts(files, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "PROC", tmp_path / "proc")
    monkeypatch.setattr(resources, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cores() == expected
