"""Compiled programs kept on disk: shared between processes, and never in the user's way."""

from __future__ import annotations

import os
import subprocess
import sys

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
