"""Let XLA compute in the thread that asked, as far as it can, so that requests wait less for a refit."""

from __future__ import annotations

import os

import jax

FLAG = "--xla_cpu_multi_thread_eigen"


def compute_in_one_thread() -> None:
    """For a service with `background=True`, before anything is computed: XLA reads its settings once.

    XLA would spread a matrix product of a refit over all cores, and begin every program in threads that all callers
    share. Independent parts of one program still go to such threads, as many as there are cores; no setting stops that.
    An XLA_FLAGS that sets the flag already is left as it is.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if FLAG not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {FLAG}=false".strip()
    jax.config.update("jax_cpu_enable_async_dispatch", False)
