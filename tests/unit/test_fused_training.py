"""The training kernel for a GPU, interpreted on the CPU, against the plain path."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.config import parameters, to_json
from showdown.policies.dropout import Dropout
from showdown.policies.greedy_network import GreedyNetwork
from showdown.posteriors import network
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch
from showdown.tricks import fused_training

SPEC = ProblemSpec(context_dim=5, num_actions=3)
POLICY = GreedyNetwork(hidden_layers=(7, 6), training_steps=4, batch_size=256, gradient_clip=0.5)  # two blocks of rows
KEYS = jax.random.wrap_key_data(jnp.array([[0, 1], [2, 3]], jnp.uint32))
DRAW = np.random.default_rng(0)
CONTEXTS = jnp.asarray(DRAW.normal(size=(40, SPEC.context_dim)), jnp.float32)
ACTIONS = DRAW.integers(SPEC.num_actions, size=(2, 40)).astype(np.int32)
REWARDS = jnp.asarray(DRAW.normal(size=(2, 40)), jnp.float32)
QUICKLY = {"xla_backend_optimization_level": 0}  # both paths agree to far less than the last bit


def refit(policy: GreedyNetwork):
    """A training of two trials at once, as a function of their contexts and rewards."""

    def trials(contexts, rewards):
        def one(key, actions, rewards):
            history = History(SPEC, jnp.int32(40), actions, rewards, lambda rows: contexts[rows])
            return policy.refit(key, policy.init(key, SPEC), history)

        return jax.vmap(one)(KEYS, ACTIONS, rewards)

    return jax.jit(trials, compiler_options=QUICKLY)


def rows(size: int) -> Batch:
    return Batch(jnp.zeros((size, SPEC.context_dim)), jnp.zeros(size, jnp.int32), jnp.zeros(size))


def tf32(values):
    """With the 11 significant bits of TF32, which float16 has too."""
    return jax.lax.reduce_precision(values, exponent_bits=8, mantissa_bits=10)


@jax.custom_vjp
def rounded_layer(inputs, weights, bias):
    """A product in TF32 as a GPU takes it, of biases too, which are weights of a constant in the kernel."""
    return tf32(inputs) @ tf32(weights) + tf32(bias)


def rounded_layer_backward(operands, delta):
    inputs, weights = (tf32(operand) for operand in operands)
    delta = tf32(delta)
    return delta @ weights.T, inputs.T @ delta, delta.sum(axis=0)


rounded_layer.defvjp(lambda *given: (rounded_layer(*given), given[:2]), rounded_layer_backward)


@pytest.fixture(scope="module")
def programs():
    """The plain path with TF32 products, and the kernel run by the interpreter, since this machine may have no GPU."""
    whole = fused_training.train
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "hidden", lambda layer, inputs: jax.nn.relu(rounded_layer(inputs, *layer[:2])))
        patch.setattr(network, "output", lambda layer, inputs: rounded_layer(inputs, *layer[:2]))
        patch.setattr(fused_training, "train", lambda *given, **named: whole(*given, **named, interpret=True))
        return [
            refit(replace(POLICY, training_kernel=kernel)).lower(CONTEXTS, REWARDS).compile()
            for kernel in ("plain", "fused")
        ]


def change(fit):
    """What a training of two trials added to their parameters."""
    start = jax.vmap(lambda key: POLICY.init(key, SPEC).parameters)(KEYS)
    differences = jax.tree.map(lambda after, before: np.ravel(after - before), fit.parameters, start)
    return np.concatenate(jax.tree.leaves(differences))


@pytest.mark.parametrize(
    ("contexts", "rewards"),
    [(1, 1), (1, 0), (1, 1e-5), (1, 1e5), (1e-3, 1), (1e-5, 1), (1e3, 1), (1e6, 1e5), (1e-3, 1e5)],
)
def test_same_fit_as_the_plain_path_in_tf32(programs, contexts, rewards):
    plain, fused = (program(contexts * CONTEXTS, rewards * REWARDS) for program in programs)
    assert jax.tree.structure(plain) == jax.tree.structure(fused)
    wanted, found = change(plain), change(fused)
    assert np.abs(wanted).max() > 0.01  # there is a training to agree on
    np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max())
    for expected, got in zip(jax.tree.leaves(plain.optimiser), jax.tree.leaves(fused.optimiser), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4)
    np.testing.assert_array_equal(fused.updates, plain.updates)


def test_one_example_far_larger_than_the_others(programs):
    contexts = CONTEXTS.at[3].mul(1e2)
    wanted, found = (change(program(contexts, REWARDS)) for program in programs)
    np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("reward", [1e38, 3e38, np.inf, np.nan])
def test_what_is_not_finite_becomes_nan(programs, reward):
    for program in programs:
        trained = program(CONTEXTS, REWARDS.at[0].set(reward)).parameters
        assert all(np.isnan(leaf[0]).all() and np.isfinite(leaf[1]).all() for leaf in jax.tree.leaves(trained))


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    with pytest.raises(UsageError, match="needs a GPU"):
        jax.eval_shape(refit(replace(POLICY, training_kernel="fused")), CONTEXTS, REWARDS)


@pytest.mark.parametrize(
    ("changed", "possible"),
    [
        ({}, True),
        ({"hidden_layers": (127, 127)}, True),
        ({"hidden_layers": (128, 100)}, False),
        ({"hidden_layers": (7,)}, False),
        ({"layer_norm": True}, False),
        ({"batch_size": 192}, False),
        ({"training_precision": "highest"}, False),
    ],
)
def test_what_the_kernel_can_train(changed, possible, monkeypatch):
    policy = replace(POLICY, training_kernel="fused", **changed)
    fit, batch = jax.eval_shape(lambda key: policy.init(key, SPEC), KEYS[0]), rows(policy.batch_size)
    if possible:
        assert policy.fuses(fit, batch)
        with pytest.raises(UsageError, match="two hidden layers"):
            policy.fuses(fit, batch._replace(features=jnp.zeros((policy.batch_size, 2))))
    else:
        with pytest.raises(UsageError, match="two hidden layers"):
            policy.fuses(fit, batch)
    assert not replace(policy, training_kernel="plain").fuses(fit, batch)
    for pays in (False, True):
        monkeypatch.setattr(fused_training, "pays", lambda pays=pays: pays)
        assert replace(policy, training_kernel="auto").fuses(fit, batch) == (pays and possible)


@pytest.mark.parametrize(
    ("features", "actions", "dtype", "possible"),
    [(63, 16, "float32", True), (64, 16, "float32", False), (63, 17, "float32", False), (5, 3, "float64", False)],
)
def test_what_else_the_kernel_has_room_for(features, actions, dtype, possible):
    sizes = network.layer_sizes(features, (100, 100), actions)
    layers = (network.Layer(*(jax.ShapeDtypeStruct(shape, dtype) for shape in (size, size[1:]))) for size in sizes)
    assert fused_training.fits(tuple(layers), 512) == possible


def test_batches_that_a_subclass_draws_otherwise_are_trained_by_the_plain_path(monkeypatch):
    monkeypatch.setattr(fused_training, "pays", lambda: True)
    monkeypatch.setattr(GreedyNetwork, "batches", lambda self, history: lambda key: history.sample(key, 100))
    jax.eval_shape(refit(POLICY), CONTEXTS, REWARDS)  # the kernel would say that there is no GPU


@pytest.mark.parametrize(
    ("backend", "capability", "pays"), [("gpu", "9.0", True), ("gpu", "8.0", False), ("cpu", "", False)]
)
def test_it_is_taken_by_itself_on_the_gpus_it_was_measured_on(backend, capability, pays, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    monkeypatch.setattr(jax, "local_devices", lambda: [SimpleNamespace(compute_capability=capability)])
    assert fused_training.pays() == pays
    with jax.default_device(jax.devices("cpu")[0]):
        assert not fused_training.pays()


def test_dropout_is_trained_by_the_plain_path():
    policy = Dropout(hidden_layers=(7, 6), training_kernel="fused")
    with pytest.raises(UsageError, match="dropout"):
        policy.fuses(jax.eval_shape(lambda key: policy.init(key, SPEC), KEYS[0]), rows(policy.batch_size))


def test_the_choice_is_no_part_of_the_identity_and_not_searched():
    fused = replace(POLICY, training_kernel="fused")
    assert to_json(fused, numerics=True) == to_json(POLICY, numerics=True)
    assert to_json(fused) != to_json(POLICY)
    assert [each.search for each in parameters(POLICY) if each.field == "training_kernel"] == [None]
