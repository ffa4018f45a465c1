"""Programs that call LAPACK: on a CPU, two of them must not run at the same time in one process.

jaxlib's LAPACK calls (0.10.2: `jax::ParallelBatchMap`) hand the matrices of a batch to XLA's threads and wait for them,
while they occupy such a thread themselves. As many calls at the same time as there are threads wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from showdown.history import History
from showdown.policy import Policy
from showdown.problem import ProblemSpec

T = TypeVar("T")

_one_at_a_time = RLock()
_known: dict[Any, bool] = {}  # by the structure of the policy

_DIM, _ROWS = 2, 4  # of a small problem; whether LAPACK is called does not depend on the size


def alone(function: Callable[..., T], *arguments: Any) -> T:
    """Call a program that refits, and wait for it, while no other such program runs in this process.

    Elsewhere than on a CPU it is just called.
    """
    if jax.default_backend() != "cpu":
        return function(*arguments)
    with _one_at_a_time:
        return jax.block_until_ready(function(*arguments))


def factorises(policy: Policy) -> bool:
    """Whether a refit of this policy calls LAPACK, or anything else that XLA does not compile itself."""
    structure = jax.tree.structure(policy)
    if structure not in _known:
        spec = ProblemSpec(_DIM, 2)
        key = jax.random.key(0)

        def init_and_refit(policy: Policy, contexts: jax.Array, actions: jax.Array, rewards: jax.Array) -> Any:
            history = History(jnp.int32(_ROWS), actions, rewards, lambda steps: contexts[steps])
            return policy.refit(key, policy.init(key, spec), history)

        rows = jnp.zeros((_ROWS, _DIM)), jnp.zeros(_ROWS, jnp.int32), jnp.zeros(_ROWS)
        _known[structure] = "custom_call" in jax.jit(init_and_refit).lower(policy, *rows).as_text()
    return _known[structure]
