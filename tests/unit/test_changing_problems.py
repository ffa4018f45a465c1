"""Problems around a problem: worlds that change, actions that come and go."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from showdown.basics.errors import UsageError
from showdown.play.simulate import problem_identity, simulate
from showdown.policies import policies
from showdown.problems import problems, table
from showdown.problems.drift import InOrder
from showdown.testing import check_problem

STEPS = 24
LINEAR = f"linear[context_dim=2,num_actions=4,horizon={STEPS}]"
ITEMS = f"items[num_items=3,action_dim=4,horizon={STEPS}]"


def rounds_of(problem):
    episode = problem.begin(jax.random.key(3), ())
    return jax.vmap(lambda step: problem.round(step, episode, ()))(jnp.arange(STEPS))


def both(name: str, wrapper: str):
    """Rounds without and with the wrapper, which have the same trials."""
    plain, changed = problems.get(name), problems.get(f"{name}/{wrapper}")
    assert problem_identity(plain) == problem_identity(changed)
    return rounds_of(plain), rounds_of(changed)


@pytest.mark.parametrize("name", [f"{LINEAR}/walk/available/turnover[every=4]", f"{ITEMS}/drift[at=(5,9)]/walk"])
def test_a_changed_problem_keeps_what_every_problem_promises(name):
    check_problem(problems.get(name))


def test_after_a_drift_every_action_pays_what_another_one_paid():
    plain, changed = both(LINEAR, "drift[at=(5,9)]")
    np.testing.assert_array_equal(plain.context, changed.context)
    np.testing.assert_array_equal(plain.rewards[:5], changed.rewards[:5])
    np.testing.assert_array_equal(np.sort(plain.means), np.sort(changed.means))
    assert (plain.means[5:9] != changed.means[5:9]).all()
    taken = [[list(plain.means[step]).index(mean) for mean in changed.means[step]] for step in (0, 5, 8, 9, STEPS - 1)]
    assert taken[0] == [0, 1, 2, 3]
    assert taken[1] == taken[2]
    assert taken[3] == taken[4]
    assert all(before != after for before, after in zip(taken[2], taken[3], strict=True))


def test_features_drift_by_their_coordinates():
    plain, changed = both(ITEMS, "drift[at=5]")
    np.testing.assert_array_equal(plain.rewards, changed.rewards)
    np.testing.assert_array_equal(plain.features[:5], changed.features[:5])
    assert (plain.features[5:] != changed.features[5:]).all()
    np.testing.assert_array_equal(np.sort(plain.features), np.sort(changed.features))


@pytest.mark.parametrize("name", [LINEAR, ITEMS])
def test_a_walk_is_added_to_what_is_paid(name):
    plain, changed = both(name, "walk[deviation=0.5]")
    raised = np.asarray(changed.means - plain.means)
    np.testing.assert_allclose(changed.rewards - plain.rewards, raised, atol=1e-5)
    if name == LINEAR:
        assert 0.3 < np.diff(raised, axis=0).std() < 0.7
    else:  # one walk for each coefficient: three items cannot tell four coefficients
        assert (np.abs(raised) > 0).all()


def test_actions_are_available_by_chance_and_regret_is_against_those():
    _, changed = both(LINEAR, "available[probability=0.3]")
    assert changed.available.any(axis=1).all()
    assert 0.2 < changed.available.mean() < 0.6
    _, none = both(LINEAR, "available[probability=0]")
    np.testing.assert_array_equal(none.available.sum(axis=1), 1)
    outcome = simulate(policies.get("LinGreedy"), problems.get(f"{LINEAR}/available[probability=0]"), trials=2)
    np.testing.assert_allclose(outcome.cumulative_expected, 0, atol=1e-6)  # the only one is the best one


def test_actions_arrive_and_depart_one_at_a_time():
    _, changed = both(LINEAR, "turnover[every=4]")
    there = np.asarray(changed.available)
    np.testing.assert_array_equal(there.sum(axis=1), 2)
    moved = (there[1:] != there[:-1]).sum(axis=1)
    np.testing.assert_array_equal(moved, np.where(np.arange(1, STEPS) % 4 == 0, 2, 0))
    assert there.any(axis=0).all()


def test_rows_are_played_in_their_own_order():
    frame = pd.DataFrame({"x": np.arange(20) ** 2, "y": np.arange(20) // 10})
    problem = InOrder(inner=table(frame, label="y"))
    problem.check()
    tables = jax.device_put(problem.load())
    episode = problem.begin(jax.random.key(0), tables)
    rewards = jax.vmap(lambda step: problem.round(step, episode, tables).rewards)(jnp.arange(20))
    np.testing.assert_array_equal(rewards[:, 1], np.arange(20) // 10)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("wheel-0.5/in-order", "over the rows of a table, and Wheel is none"),
        ("wheel-0.5/drift[at=(9,5)]", "must be ascending"),
        ("wheel-0.5/drift[at=0]", "at least 1"),
        (
            "linear[horizon=50]/drift[at=(20,50)]",
            r"a trial has 50 steps, counted from 0, so drift\[at=50\] would never",
        ),
        ("wheel-0.5/available[probability=2]", "must lie between 0 and 1"),
    ],
)
def test_wrong_changes_are_refused(text, why):
    with pytest.raises(UsageError, match=why):
        problems.get(text)


def test_changes_can_be_combined_and_rewards_still_come_late():
    problem = problems.get(f"{LINEAR}/delay[steps=3]/drift[at=5]/available")
    assert problem.feedback == problems.get("wheel/delay[steps=3]").feedback
    assert problem.with_horizon(7).horizon == 7
