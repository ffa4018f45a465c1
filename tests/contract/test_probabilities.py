"""The law that a policy states is the law of its actions. One preset per structure that states one.

A test fails by chance where one of its cells (actions × masks × steps) is more than 5 standard errors off: with about
12 cells of a policy and 20 policies, in 1 of 7,000 runs of a correct program (two-sided 5.7e-7 per cell). Seeds are
fixed, so a run that passes passes again. The states have learned from a few rewards, so that actions differ.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent.programs import probabilities
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.protocol.situation import Situation
from showdown.testing.policy_promises import DIM, SPEC

DRAWS = 4000
ERRORS = 5.0
QUICKLY = {"xla_backend_optimization_level": 0}  # a law does not hang on the last bit: leave LLVM's passes out
ALL, SOME = np.array([True, True, True]), np.array([True, False, True])


def presets() -> list[str]:
    """One preset per structure of policy. What is left out is the same code: linear models of networks, diagonal
    covariances, the parts of Council on their own, and rules around NeuralLinear."""
    first: dict[str, str] = {}
    for name in policies.names():
        if not any(part in name for part in ("@linear", "Diag", "ScaleFree", "Tempered", "-Dropout", "NeuralLinear-")):
            first.setdefault(str(jax.tree.structure(policies.get(name).small())), name)
    return sorted(first.values())


def exact(name: str) -> bool:
    policy = policies.get(name).small()
    state = jax.eval_shape(lambda: policy.init(jax.random.key(0), SPEC))
    situation = Situation(jnp.zeros(DIM), jnp.int32(0), SPEC, jnp.asarray(ALL))
    return jax.eval_shape(policy.probabilities, state, situation) is not None


@partial(jax.jit, compiler_options=QUICKLY)
def learned(policy: Policy):
    """A state after a few rewards of each action, with different means."""
    state = policy.init(jax.random.key(1), SPEC)
    if policy.learns_only_at_refits:
        return state
    contexts = jax.random.normal(jax.random.key(5), (9, DIM))

    def one(row: jax.Array, state):
        action = row % SPEC.num_actions
        reward = 0.3 * action.astype(jnp.float32) + 0.2 * contexts[row, 0]
        situation = Situation(contexts[row], row, SPEC)
        return policy.update(jax.random.fold_in(jax.random.key(6), row), state, situation, action, reward)

    return jax.lax.fori_loop(0, len(contexts), one, state)


@partial(jax.jit, compiler_options=QUICKLY)
def drawn(policy: Policy, key: jax.Array, state, situation: Situation):
    """Shares of `act`; (num_actions,)."""
    keys = jax.random.split(key, DRAWS)
    actions = jax.vmap(lambda each: policy.act(each, state, situation))(keys)
    return jnp.bincount(actions, length=SPEC.num_actions) / DRAWS


@pytest.mark.parametrize("name", [name for name in presets() if exact(name)])
def test_a_stated_law_is_that_of_the_actions(name):
    policy = policies.get(name).small()
    state = learned(policy)
    context = jnp.array([0.3, -1.0, 0.5])
    stated = jax.jit(type(policy).probabilities, compiler_options=QUICKLY)
    for number, (step, available) in enumerate(((4, ALL), (4, SOME), (50, ALL), (50, SOME))):
        situation = Situation(context, jnp.int32(step), SPEC, jnp.asarray(available))
        law = np.asarray(stated(policy, state, situation))
        shares = np.asarray(drawn(policy, jax.random.key(number), state, situation))
        assert law.sum() == pytest.approx(1, abs=1e-6)
        assert not law[~available].any()
        assert (np.abs(shares - law) <= ERRORS * np.sqrt(law * (1 - law) / DRAWS) + 1e-4).all(), (law, shares)


def test_which_laws_are_stated():
    """Linear beliefs, with a network or without, alone, in duels and in a council; what has no formula states none."""
    stated = {"Uniform", "LinGreedy", "LinPost", "LinFullPost", "LinFullPost-Duel", "NeuralLinear", "NeuralLinear-Duel"}
    assert all(map(exact, stated | {"ScaleFree", "ScaleFreeNetwork-Duel", "Council", "LinGreedy-eps0.05", "RMS"}))
    assert not any(map(exact, ("Dropout", "BBB", "SGFS")))


def test_with_all_actions_available_the_law_is_that_of_act():
    """Where something may be masked `act` draws in another way; with a mask of all, its law must be that without."""
    for name in ("Uniform", "LinFullPost", "LinFullPost-Duel"):
        policy = policies.get(name)
        state, context, step = policy.init(jax.random.key(2), SPEC), jnp.array([0.3, -1.0, 0.5]), jnp.int32(30)
        keys = jax.random.split(jax.random.key(3), DRAWS)
        act = jax.jit(jax.vmap(policy.act, in_axes=(0, None, None)), compiler_options=QUICKLY)
        actions = act(keys, state, Situation(context, step, SPEC))
        shares = np.bincount(np.asarray(actions), minlength=3) / DRAWS
        known = policy, jax.random.key(4), state, Situation(context, step, SPEC, jnp.asarray(ALL))
        law, draws = (np.asarray(part) for part in probabilities(*known, draws=DRAWS))
        error = np.sqrt(np.maximum(law * (1 - law), 1e-6) * (1 / DRAWS + (1 / draws if draws else 0)))
        assert (np.abs(shares - law) <= ERRORS * error).all(), (name, law, shares)
