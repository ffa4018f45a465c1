"""The probability with which a policy takes each action: the law that it states, or else the shares of some draws."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.protocol.keys import role_key
from showdown.protocol.policy import Policy, State
from showdown.protocol.situation import Situation

SIMULATED_DRAWS = 200  # for each step of a simulation, of a policy that states no law


def law(policy: Policy, key: jax.Array, state: State, situation: Situation, draws: int) -> tuple[jax.Array, jax.Array]:
    """The probability of each action, (num_actions,), and of how many draws it is the mean; 0 where it is stated."""
    stated = policy.probabilities(state, situation)
    if stated is not None:
        return jnp.minimum(stated, 1.0), jnp.int32(0)  # a sum of float32 numbers may be a little more
    keys = jax.random.split(jax.random.fold_in(role_key(key, "propensity"), situation.step), draws)
    together = min(at_once(situation.num_actions), draws)
    drawn = jax.lax.map(lambda each: policy.act(each, state, situation), keys, batch_size=together)
    return jnp.bincount(drawn, length=situation.num_actions) / draws, jnp.int32(draws)


def taken_probability(
    policy: Policy, key: jax.Array, state: State, situation: Situation, action: jax.Array
) -> jax.Array:
    """The propensity of an action that was taken, (). Among draws it counts as one more, so it is never 0."""
    values, draws = law(policy, key, state, situation, SIMULATED_DRAWS)
    times = draws.astype(jnp.float32)
    return jnp.where(draws > 0, (times * values[action] + 1) / (times + 1), values[action])


# On a CPU, jaxlib 0.10.2 gives silently wrong sums where a fused reduction has more than 32,768 results
# (github.com/jax-ml/jax/issues/39103).
SCORES_AT_ONCE = 1 << 14


def at_once(scores: int) -> int:
    """The batch size for items of so many scores each."""
    return max(1, SCORES_AT_ONCE // scores)
