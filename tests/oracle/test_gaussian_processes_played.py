"""Both Gaussian processes in the compiled loop. All tests play one shape, so that each policy is compiled twice."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import DivergedError
from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.config import override
from showdown.play.simulate import simulate
from showdown.policies.gaussian_process import GaussianProcess
from showdown.policies.sparse_gaussian_process import SparseGaussianProcess
from showdown.policies.wrappers import WarmUp
from showdown.protocol.policy import Policy

STEPS, DIM, ACTIONS, TRIALS = 36, 3, 4, 3
SIZES = {"task_dim": 2, "refit_every": 12, "training_steps": 2, "train_until": 24}
POLICIES = (
    WarmUp(inner=GaussianProcess(max_points=24, **SIZES)),
    WarmUp(inner=SparseGaussianProcess(num_inducing=12, batch_size=24, **SIZES)),
)


@pytest.fixture(params=POLICIES, ids=lambda policy: type(policy.inner).__name__)
def policy(request) -> Policy:
    return request.param


@pytest.fixture
def problem(script):
    generator = np.random.default_rng(0)
    return script(generator.normal(size=(STEPS, DIM)), generator.normal(size=(STEPS, ACTIONS)))


def test_numbers_do_not_depend_on_batches_or_segments(policy, problem):
    whole = simulate(policy, problem, trials=TRIALS)
    cut = simulate(policy, problem, trials=TRIALS, batch_trials=2, segment_steps=12)
    np.testing.assert_array_equal(whole.action_counts, cut.action_counts)
    np.testing.assert_allclose(whole.curve, cut.curve, rtol=1e-13)


def test_a_hopeless_rate_diverges(policy, problem):
    with pytest.raises(DivergedError, match="not finite"):
        simulate(override(policy, {"learning_rate": 1e30}), problem, trials=TRIALS)


def test_hyperparameters_stand_still_after_train_until(policy, problem, play):
    state = play(policy, problem, trials=TRIALS).players.state
    assert (state.fit.optimiser.count == 4).all()  # of the refits at steps 12 and 24; the last one takes in the data
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(state))


def test_the_record_of_a_cell_says_the_jitter(policy, script, tmp_path):
    """Duplicated contexts: noise tells their rewards apart, unless the kernel is 1e18 and rounding swallows it."""
    store = Store(tmp_path)
    for number, level in enumerate((1.0, 1e9)):
        duplicated = script(np.full((STEPS, DIM), level), np.ones((STEPS, ACTIONS)))
        outcome = simulate(policy, duplicated, trials=TRIALS)
        assert outcome.diagnostics["jitter"].shape == (TRIALS,)
        cell = Cell("process", str(level), policy, duplicated, trials=TRIALS, seed=number)
        store.write_done(cell, [("process", str(level))], outcome, {})
    jitter = {record.problem: record.diagnostics["jitter"] for record in store.cells()}
    assert jitter["1.0"] == 0
    assert jitter["1000000000.0"] > 0
