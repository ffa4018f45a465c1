"""With what probabilities a policy that no longer learns takes each action, row by row of a log."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from showdown.play.score_chunks import at_once
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


def act_probabilities(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: np.ndarray,
    step: np.int32,
    allowed: np.ndarray,
    draws: int,
) -> np.ndarray:
    """The share of `draws` draws in which the policy takes each action, (rows, num_actions), as `allowed` is.

    Where not all are available it decides as an online agent would.
    """
    rows, num_actions = allowed.shape
    masks = None if allowed.all() else allowed
    actions = np.asarray(_drawn(policy, key, state, contexts, step, masks, draws=draws, num_actions=num_actions))
    places = np.arange(rows)[:, None] * num_actions + actions
    return np.bincount(places.ravel(), minlength=rows * num_actions).reshape(rows, num_actions) / draws


@partial(jax.jit, static_argnames=("draws", "num_actions"))
def _drawn(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: jax.Array,
    step: jax.Array,
    masks: jax.Array | None,
    *,
    draws: int,
    num_actions: int,
) -> jax.Array:
    """(rows, draws) actions."""

    def one_row(inputs: tuple[jax.Array, jax.Array, jax.Array | None]) -> jax.Array:
        row, context, mask = inputs
        keys = jax.random.split(jax.random.fold_in(key, row), draws)
        situation = Situation(context, step, spec, mask)
        return jax.vmap(lambda each: policy.act(each, state, situation))(keys)

    spec = ProblemSpec(contexts.shape[1], num_actions)
    rows = jnp.arange(contexts.shape[0], dtype=jnp.int32)
    return jax.lax.map(one_row, (rows, contexts, masks), batch_size=at_once(draws * num_actions))
