"""The training kernel for a GPU, interpreted on the CPU, against the plain path."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.config import parameters, to_json
from showdown.errors import UsageError
from showdown.history import History
from showdown.policies.dropout import Dropout
from showdown.policies.greedy_network import GreedyNetwork
from showdown.posteriors import fused_training
from showdown.problem import ProblemSpec

SPEC = ProblemSpec(context_dim=5, num_actions=3)
POLICY = GreedyNetwork(hidden_layers=(7, 6), training_steps=4, batch_size=64, gradient_clip=0.5)
KEYS = jax.random.wrap_key_data(jnp.array([[0, 1], [2, 3]], jnp.uint32))
DRAW = np.random.default_rng(0)
CONTEXTS = jnp.asarray(DRAW.normal(size=(40, SPEC.context_dim)), jnp.float32)
ACTIONS = DRAW.integers(SPEC.num_actions, size=(2, 40)).astype(np.int32)
REWARDS = jnp.asarray(DRAW.normal(size=(2, 40)), jnp.float32)
QUICKLY = {"xla_backend_optimization_level": 0}  # both paths agree to far less than the last bit


def refit(policy: GreedyNetwork):
    """A training of two trials at once, as a compiled function of their rewards."""

    def one(key, actions, rewards):
        history = History(jnp.int32(40), actions, rewards, lambda steps: CONTEXTS[steps])
        return policy.refit(key, policy.init(key, SPEC), history)

    return jax.jit(lambda rewards: jax.vmap(one)(KEYS, ACTIONS, rewards), compiler_options=QUICKLY)


@pytest.fixture
def interpreted(monkeypatch):
    """The kernel run by the interpreter, since this machine may have no GPU."""
    whole = fused_training.train
    monkeypatch.setattr(fused_training, "train", lambda *given, **named: whole(*given, **named, interpret=True))


def test_same_fit_as_the_plain_path(interpreted):
    plain, fused = (refit(replace(POLICY, training_kernel=kernel)) for kernel in ("plain", "fused"))
    wanted, found = plain(REWARDS), fused(REWARDS)
    assert jax.tree.structure(wanted) == jax.tree.structure(found)
    start = jax.jit(lambda: POLICY.init(KEYS[0], SPEC).parameters)()
    for before, after in zip(jax.tree.leaves(start), jax.tree.leaves(wanted.parameters), strict=True):
        assert np.abs(after[0] - before).max() > 0.01  # there is a training to agree on
    for expected, got in zip(jax.tree.leaves(wanted), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-5)

    overflowed = fused(1e38 * REWARDS)
    assert all(np.isnan(leaf).all() for leaf in jax.tree.leaves(overflowed.parameters))


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    with pytest.raises(UsageError, match="needs a GPU"):
        jax.eval_shape(refit(replace(POLICY, training_kernel="fused")), REWARDS)


@pytest.mark.parametrize(
    ("changed", "possible"),
    [
        ({}, True),
        ({"hidden_layers": (127, 127)}, True),
        ({"hidden_layers": (128, 100)}, False),
        ({"hidden_layers": (7,)}, False),
        ({"layer_norm": True}, False),
        ({"batch_size": 100}, False),
        ({"training_precision": "highest"}, False),
    ],
)
def test_what_the_kernel_can_train(changed, possible):
    policy = replace(POLICY, training_kernel="fused", **changed)
    fit = jax.eval_shape(lambda key: policy.init(key, SPEC), KEYS[0])
    if possible:
        assert policy.fuses(fit)
    else:
        with pytest.raises(UsageError, match="two hidden layers"):
            policy.fuses(fit)
    assert not replace(policy, training_kernel="plain").fuses(fit)


def test_dropout_is_trained_by_the_plain_path():
    policy = Dropout(hidden_layers=(7, 6), training_kernel="fused")
    with pytest.raises(UsageError, match="dropout"):
        policy.fuses(jax.eval_shape(lambda key: policy.init(key, SPEC), KEYS[0]))


def test_the_choice_is_no_part_of_the_identity_and_not_searched():
    fused = replace(POLICY, training_kernel="fused")
    assert to_json(fused, numerics=True) == to_json(POLICY, numerics=True)
    assert to_json(fused) != to_json(POLICY)
    assert [each.search for each in parameters(POLICY) if each.field == "training_kernel"] == [None]
