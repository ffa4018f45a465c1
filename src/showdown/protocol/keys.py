"""Random keys with names: (seed, name, name, …) → key, by hash, so that no two roles ever share one.

A problem's key depends on (seed, problem, trial) and never on the policy: every policy sees the same contexts in the
same order, and trial `i` is the same however many trials run with it.
"""

from __future__ import annotations

import hashlib

import jax
import jax.numpy as jnp
import numpy as np

from showdown.tricks.threefry import key_of


def key_data(seed: int, *names: str | int) -> np.ndarray:
    """The two words of a key that belongs to these names alone."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return np.frombuffer(digest[:8], dtype="<u4").astype(np.uint32)


def named_key(seed: int, *names: str | int) -> jax.Array:
    return key_of(jnp.asarray(key_data(seed, *names)))


def trial_keys(seed: int, problem: str, trials: range, role: str) -> jax.Array:
    """One key per trial for one role ('problem' or 'policy')."""
    words = np.stack([key_data(seed, problem, trial, role) for trial in trials])
    return key_of(jnp.asarray(words))


def role_key(key: jax.Array, role: str) -> jax.Array:
    """A key for one named use of `key`; usable inside a compiled program, where the name is a constant."""
    return jax.random.fold_in(key, int(key_data(0, role)[0] >> 1))
