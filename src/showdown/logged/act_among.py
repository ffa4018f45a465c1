"""What a policy does where only some actions are available, and with what probabilities it does it."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from showdown.policy import Policy, State

TRIES = 8  # draws before an available action is taken at random
# Draws times actions scored together. On a CPU, jaxlib 0.10.2 gives silently wrong sums where a fused reduction has
# more than 32,768 results (github.com/jax-ml/jax/issues/39103).
SCORES_AT_ONCE = 1 << 14


def act_among(
    policy: Policy, key: jax.Array, state: State, context: jax.Array, step: jax.Array, allowed: jax.Array | None
) -> jax.Array:
    """The policy's action; where it is not available the policy draws again, at last one of those available."""
    if allowed is None:
        return policy.act(key, state, context, step)
    keys = jax.random.split(key, TRIES)
    drawn = jax.vmap(lambda each: policy.act(each, state, context, step))(keys)
    drawn = drawn.at[0].set(policy.act(key, state, context, step))  # the draw there would be if all were available
    fits = allowed[drawn]
    at_random = jax.random.categorical(keys[-1], jnp.where(allowed, 0.0, -jnp.inf)).astype(jnp.int32)
    return jnp.where(fits.any(), drawn[jnp.argmax(fits)], at_random)


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

    What falls on actions that are not available is divided among the others in proportion, as if drawn again.
    """
    rows, num_actions = allowed.shape
    at_once = max(1, SCORES_AT_ONCE // (draws * num_actions))
    actions = np.asarray(_drawn(policy, key, state, contexts, step, draws=draws, at_once=at_once))
    places = np.arange(rows)[:, None] * num_actions + actions
    counts = np.bincount(places.ravel(), minlength=rows * num_actions).reshape(rows, num_actions) * allowed
    counts = np.where(counts.any(axis=1, keepdims=True), counts, allowed)  # none of them drawn: all alike
    return counts / counts.sum(axis=1, keepdims=True)


@partial(jax.jit, static_argnames=("draws", "at_once"))
def _drawn(
    policy: Policy, key: jax.Array, state: State, contexts: jax.Array, step: jax.Array, *, draws: int, at_once: int
) -> jax.Array:
    """(rows, draws) actions."""

    def one_row(inputs: tuple[jax.Array, jax.Array]) -> jax.Array:
        row, context = inputs
        keys = jax.random.split(jax.random.fold_in(key, row), draws)
        return jax.vmap(lambda each: policy.act(each, state, context, step))(keys)

    rows = jnp.arange(contexts.shape[0], dtype=jnp.int32)
    return jax.lax.map(one_row, (rows, contexts), batch_size=at_once)
