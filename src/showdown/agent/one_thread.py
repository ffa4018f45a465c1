"""Let XLA compute in one thread, so that a refit in the background leaves a core to requests."""

from __future__ import annotations

import os

FLAG = "--xla_cpu_multi_thread_eigen"


def compute_in_one_thread() -> None:
    """For a service with `background=True`, before anything is computed: XLA reads its flags once.

    A refit that uses all cores makes requests wait for it. Does nothing where the environment sets the flag already.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if FLAG not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {FLAG}=false".strip()
