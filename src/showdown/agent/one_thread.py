"""Let every thread compute what it asked for itself, so that a refit in the background leaves a core to requests."""

from __future__ import annotations

import os

import jax

FLAG = "--xla_cpu_multi_thread_eigen"


def compute_in_one_thread() -> None:
    """For a service with `background=True`, before anything is computed: XLA reads its settings once.

    XLA would spread a refit over all cores, and hand small programs to threads that all callers share: requests would
    wait for the refit. An XLA_FLAGS that sets the flag already is left as it is.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if FLAG not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {FLAG}=false".strip()
    jax.config.update("jax_cpu_enable_async_dispatch", False)
