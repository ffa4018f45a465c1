"""The test for a change: what it finds, when it says it was, and how rarely it is wrong."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from showdown.beliefs.change_test import FIRST, ChangeTest

STEPS, CHANGE, THRESHOLD = 600, 400, 15.0


@jax.jit
def run(decided, errors):
    """After each reward: whether a change was found, and since when."""

    def one(test, errors):
        test = test.observe(*errors)
        return test, test.found(THRESHOLD)

    return jax.lax.scan(one, ChangeTest.start(1), (decided, errors))[1]


def errors_of(noise, all_remembered, short):
    """Squared errors of a belief with all memory and of a short one that are wrong by so much."""
    each = np.stack([(noise - all_remembered) ** 2, (noise - short) ** 2], axis=1).astype(np.float32)
    return jnp.asarray(each[:, 0]), jnp.asarray(each)


def test_nothing_is_found_where_nothing_changes():
    draw = np.random.default_rng(0)
    for _ in range(50):
        found, _ = run(*errors_of(draw.normal(size=STEPS), np.zeros(STEPS), 0.3 * draw.normal(size=STEPS)))
        assert not found.any()


def test_errors_that_have_grown_are_found_at_once():
    draw = np.random.default_rng(1)
    wrong = np.where(np.arange(STEPS) < CHANGE, 0, 4.0)  # of all, so that forgetting alone would show nothing
    found, since = run(*errors_of(draw.normal(size=STEPS), wrong, wrong))
    first = int(np.argmax(np.asarray(found)))
    assert CHANGE < first < CHANGE + 40
    assert abs(int(since[first]) - CHANGE) < 10


def test_a_small_change_is_found_by_those_who_forget():
    draw = np.random.default_rng(2)
    changed = np.arange(STEPS) >= CHANGE
    found, since = run(*errors_of(draw.normal(size=STEPS), 0.7 * changed, 0.2 * draw.normal(size=STEPS)))
    first = int(np.argmax(np.asarray(found)))
    assert CHANGE < first < CHANGE + 150
    assert abs(int(since[first]) - CHANGE) < 100


def test_the_first_rewards_and_one_odd_one_prove_nothing():
    first = jnp.where(jnp.arange(FIRST) < FIRST // 2, 0.001, 9.0)
    assert not run(first, jnp.stack([first, 0 * first], axis=1))[0].any()
    odd = jnp.where(jnp.arange(STEPS) == CHANGE, 1e6, 1.0)
    assert not run(odd, jnp.stack([odd, odd], axis=1))[0].any()
