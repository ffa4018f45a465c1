"""What every registered problem promises. Problems whose data is not at hand are skipped with the reason."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.config import from_json, to_json
from showdown.errors import MissingDataError, UsageError
from showdown.keys import named_key
from showdown.policies import policies
from showdown.problems import problems
from showdown.simulate import simulate

SHORT = 40
SHARED_DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


@pytest.fixture(params=problems.names())
def problem(request, monkeypatch):
    if "SHOWDOWN_DATA" not in os.environ and SHARED_DATA.is_dir():
        monkeypatch.setenv("SHOWDOWN_DATA", str(SHARED_DATA))
    try:
        problem = dataclasses.replace(problems.get(request.param), horizon=SHORT)
        problem.load()
    except MissingDataError as error:
        pytest.skip(str(error))
    except UsageError as error:
        if request.param == "table":  # needs a path; tests of its own play it
            pytest.skip(str(error))
        raise
    return problem


@pytest.fixture
def tables(problem):
    return jax.device_put(problem.load())


def rounds_of(problem, tables, key, steps):
    def play(problem, tables, key):
        episode = problem.begin(key, tables)
        rounds = jax.vmap(lambda step: problem.round(step, episode, tables))(jnp.arange(steps))
        contexts = jax.vmap(lambda step: problem.context(step, episode, tables))(jnp.arange(steps))
        return rounds, contexts

    return jax.jit(play)(problem, tables, key)


def test_config_survives_json(problem):
    assert from_json(json.loads(json.dumps(to_json(problem)))) == problem


def test_rounds_have_the_declared_shapes_and_finite_numbers(problem, tables):
    spec = problem.spec(tables)
    rounds, contexts = rounds_of(problem, tables, named_key(0, "test"), SHORT)
    assert rounds.context.shape == (SHORT, spec.context_dim)
    assert rounds.rewards.shape == rounds.means.shape == (SHORT, spec.num_actions)
    for array in rounds:
        assert array.dtype == jnp.float32
        assert jnp.isfinite(array).all()
    np.testing.assert_allclose(contexts, rounds.context, rtol=1e-6)


def test_same_key_same_episode_another_key_another(problem, tables):
    first, again, other = (rounds_of(problem, tables, named_key(seed, "test"), SHORT)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.context, again.context)
    np.testing.assert_array_equal(first.rewards, again.rewards)
    assert (first.context != other.context).any()


def test_policies_and_neighbours_do_not_touch_a_trial(problem):
    """The best any policy could do in trial i is a fact of the problem: it must not move with policy or trial count."""
    few = simulate(policies.get("Uniform"), problem, trials=2, seed=3)
    many = simulate(policies.get("Uniform"), problem, trials=5, seed=3, segment_steps=7)
    np.testing.assert_allclose(few.cumulative, many.cumulative[:2], rtol=1e-6)
    np.testing.assert_array_equal(few.action_counts, many.action_counts[:2])
