"""A history written down by a test, as the loop would hand it to a refit."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from showdown.protocol.policy import History


@pytest.fixture
def history():
    """Call with contexts, actions, rewards and, if not all steps are filled, how many are."""

    def make(contexts, actions, rewards, count: int | None = None) -> History:
        contexts = jnp.asarray(contexts, jnp.float32)
        return History(
            count=jnp.int32(len(contexts) if count is None else count),
            actions=jnp.asarray(np.asarray(actions), jnp.int32),
            rewards=jnp.asarray(rewards, jnp.float32),
            contexts_at=lambda steps: contexts[steps],
        )

    return make
