"""What an adaptive council remembers, against ridge regressions on those rows in NumPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent.action_changes import check_growth
from showdown.basics.errors import UsageError
from showdown.beliefs.features import ScaledContexts
from showdown.beliefs.linear import StudentLinear
from showdown.beliefs.tempered import TemperedLinear
from showdown.policies.adaptive_council import AdaptiveCouncil
from showdown.policies.shared.members import Member
from showdown.policies.shared.memories import OWN_SCALE
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

ROWS, ACTIONS, FEATURES, SHORT, PRIOR = 50, 3, 2, 20, 0.5
DRAW = np.random.default_rng(4)
CONTEXTS = DRAW.normal(size=(ROWS, 1)).astype(np.float32)
OFFERED = DRAW.normal(size=(ROWS, ACTIONS, FEATURES)).astype(np.float32)
PLAYED = DRAW.integers(ACTIONS, size=ROWS).astype(np.int32)
REWARDS = (OFFERED[np.arange(ROWS), PLAYED, 0] * (1 + PLAYED) + DRAW.normal(size=ROWS)).astype(np.float32)
TAKEN = OFFERED[np.arange(ROWS), PLAYED]
SPEC = ProblemSpec(1, ACTIONS, FEATURES)
POLICY = AdaptiveCouncil(
    features=ScaledContexts(),
    members=tuple(
        Member(name=sees, sees=sees, belief=TemperedLinear(prior_precision=PRIOR)) for sees in ("context", "own")
    ),
    memories=(SHORT,),
)


@pytest.fixture(scope="module")
def state():
    """After all rows, of which the first ten are not valid."""

    @jax.jit
    def learned():
        def one(state, row):
            situation = Situation(jnp.asarray(CONTEXTS)[row], row, SPEC, None, jnp.asarray(OFFERED)[row])
            key = jax.random.key(0)
            return POLICY.update(key, state, situation, jnp.asarray(PLAYED)[row], jnp.asarray(REWARDS)[row]), None

        begun = POLICY.init(jax.random.key(0), SPEC)
        state, _ = jax.lax.scan(one, begun, jnp.arange(ROWS, dtype=jnp.int32))
        state = state._replace(valid_from=jnp.int32(10), test=state.test._replace(evidence=jnp.zeros(2)))
        history = History(
            SPEC,
            jnp.int32(ROWS),
            jnp.asarray(PLAYED),
            jnp.asarray(REWARDS),
            lambda rows: jnp.asarray(CONTEXTS)[rows],
            lambda rows: jnp.asarray(TAKEN)[rows],
        )
        return POLICY.refit(jax.random.key(0), state, history)

    return learned()


@pytest.mark.parametrize(("memory", "first"), [(0, 10), (1, ROWS - SHORT)])
@pytest.mark.parametrize("kind", [0, 1])
def test_every_memory_is_a_regression_on_its_rows(state, memory, first, kind):
    inputs = np.concatenate([CONTEXTS, TAKEN], axis=1).astype(float)
    scale = np.sqrt(np.mean(inputs**2)) * np.sqrt(inputs.shape[1])
    plain = np.concatenate([inputs / scale, np.ones((ROWS, 1))], axis=1)
    own = np.zeros((ROWS, ACTIONS, plain.shape[1]))
    own[np.arange(ROWS), PLAYED] = OWN_SCALE * plain
    design = [plain, np.concatenate([own.reshape(ROWS, -1), plain], axis=1)][kind][first:]
    mean = np.linalg.solve(design.T @ design + PRIOR * np.eye(design.shape[1]), design.T @ REWARDS[first:])
    held = state.beliefs[kind]
    np.testing.assert_allclose(held.regressions.mean[memory, 0], mean, atol=2e-3)
    assert held.rows[memory, 0] == ROWS - first
    assert held.squares[memory, 0] == pytest.approx((REWARDS[first:] ** 2).sum(), rel=1e-4)
    assert held.rewards[memory, 0] == pytest.approx(REWARDS[first:].sum(), rel=1e-3, abs=1e-3)


def test_when_a_change_was_found_members_start_afresh(state):
    certain = state.test._replace(evidence=jnp.array([0.0, 99.0]), since=jnp.array([3, 33], jnp.int32))
    changed = POLICY.changed(state._replace(test=certain))
    assert int(changed.valid_from) == 33
    assert float(jnp.abs(changed.contest.sums).max()) == float(changed.test.evidence.max()) == 0
    assert float(changed.changes.sum()) == 1
    assert int(changed.test.seen) == ROWS
    kept = POLICY.changed(state)
    assert int(kept.valid_from) == 10
    np.testing.assert_array_equal(kept.contest.sums, state.contest.sums)


def test_no_action_is_added_to_coefficients_of_their_own():
    with pytest.raises(UsageError, match="so none can be added"):
        check_growth(POLICY, SPEC, SPEC._replace(num_actions=200))


def test_a_belief_that_cannot_forget_is_refused():
    with pytest.raises(UsageError, match="must be able to forget, and StudentLinear is not"):
        AdaptiveCouncil(members=(Member(name="linear", sees="context", belief=StudentLinear()),)).check()
    with pytest.raises(UsageError, match="at least one member and one short memory"):
        AdaptiveCouncil(memories=()).check()
