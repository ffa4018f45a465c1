"""Compiled programs kept on disk between runs."""

from __future__ import annotations

import warnings
from typing import Any

import jax

from showdown.basics.folders import cache_folder


def use_compilation_cache() -> None:
    """Unless the user already said where compiled programs are kept, or that they are not."""
    settings: Any = jax.config
    if settings.jax_compilation_cache_dir is not None or not settings.jax_enable_compilation_cache:
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    # JAX writes an entry in place, so another process may be halfway through it, or have been killed there.
    # JAX then compiles as if there were none, which is right and no news to the user.
    warnings.filterwarnings("ignore", message="Error reading persistent compilation cache entry", category=UserWarning)
