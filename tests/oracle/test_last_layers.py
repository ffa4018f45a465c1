"""Bayesian last layers since 2018, each against its definition: gradients, evidence, a bound's stationary point."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.beliefs.network_features import he_network
from showdown.policies import policies
from showdown.posteriors import network, tangent_kernel
from showdown.testing import play, scripted
from showdown.testing.policy_promises import SPEC, random_script

ROWS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_the_tangent_kernel_is_that_of_gradients(layer_norm):
    layers = network.layer_sizes(3, (8, 6), 2)
    parameters = he_network(jax.random.key(1), layers, layer_norm)
    gradients = jax.vmap(jax.jacrev(lambda below, row: network.predict((*below, parameters[-1]), row)), (None, 0))(
        parameters[:-1], ROWS
    )
    flat = np.concatenate([np.asarray(leaf).reshape(5, 2, -1) for leaf in jax.tree.leaves(gradients)], axis=-1)
    expected = np.einsum("nap,map->anm", flat, flat)
    kernel = tangent_kernel.hidden_kernel(parameters, jnp.asarray(ROWS))
    assert np.asarray(kernel) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_with_few_rows_the_last_layer_has_the_kernel_of_the_whole_network():
    generator = np.random.default_rng(2)
    features, root = generator.normal(size=(4, 9)), generator.normal(size=(2, 4, 7))
    kernel = np.einsum("anp,amp->anm", root, root)
    prior = tangent_kernel.last_layer_prior(jnp.float32(kernel), jnp.float32(features), 1.0, 1e-6)
    implied = np.einsum("ni,aij,mj->anm", features, np.linalg.inv(np.asarray(prior, float)), features)
    assert implied == pytest.approx(features @ features.T + kernel, rel=2e-3, abs=2e-2)


def test_rich_without_the_layers_below_is_neural_linear():
    problem = scripted(*random_script())
    plain = policies.get("NeuralLinear").small()
    rich = policies.get("Rich-BLL[strength=0,noise=belief]").small()
    assert (play(rich, problem).actions == play(plain, problem).actions).all()
    state = play(rich, problem).players.state
    same = play(plain, problem).players.state.belief.regressions
    assert np.asarray(state.belief.regressions.mean) == pytest.approx(np.asarray(same.mean), abs=1e-5)


def test_the_layers_below_only_add_to_the_spread():
    rich = policies.get("Rich-BLL[noise=belief]").small().inner
    below = replace(rich, strength=0.0)
    fit = rich.features.init(jax.random.key(0), SPEC)
    wide, narrow = (np.linalg.inv(np.asarray(each.prior(fit, jnp.asarray(ROWS)), float)) for each in (rich, below))
    designs = np.asarray(rich.features.design(fit, jnp.asarray(ROWS)))
    gain = np.einsum("ni,aij,nj->an", designs, wide - narrow, designs)
    assert (gain >= -1e-4).all()
    assert (gain > 1e-2).any()
