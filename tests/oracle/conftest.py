"""A history written down by a test, as the loop would hand it to a refit."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from showdown.protocol.policy import History
from showdown.protocol.problem import ProblemSpec


@pytest.fixture
def history():
    """Call with a spec, contexts, actions, rewards and, if not all rows are filled, how many are."""

    def make(spec: ProblemSpec, contexts, actions, rewards, count: int | None = None) -> History:
        contexts = jnp.asarray(contexts, jnp.float32)
        return History(
            spec=spec,
            count=jnp.int32(len(contexts) if count is None else count),
            actions=jnp.asarray(np.asarray(actions), jnp.int32),
            rewards=jnp.asarray(rewards, jnp.float32),
            contexts_at=lambda rows: contexts[rows],
        )

    return make
