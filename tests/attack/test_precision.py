"""Numbers far from zero: float32 loses their differences, so rewards are refused and contexts are centred first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from attacks import precision
from showdown.basics.errors import UsageError
from showdown.data.bandit_table import as_bandit_table
from showdown.logged.read_log import read_log


def test_no_reward_is_lost_silently():
    assert precision.far_rewards().withstood


def test_no_context_is_lost_silently():
    assert precision.far_contexts().withstood


def paid(offset: float, scale: float = 1.0) -> pd.DataFrame:
    rewards = offset + scale * np.random.default_rng(0).normal(size=(50, 2))
    return pd.DataFrame(rewards, columns=["a", "b"]).assign(x=np.arange(50) % 7)


@pytest.mark.parametrize(
    ("frame", "remedy"),
    [
        (paid(1e8), "subtract the same number"),
        (paid(-1e8), "subtract the same number"),
        (paid(2.0**60).astype("int64"), "subtract the same number"),
        (paid(0, 1e-40), "multiply them by a large number"),
    ],
)
def test_lost_rewards_are_refused_with_what_to_do(frame, remedy):
    with pytest.raises(UsageError, match=remedy):
        as_bandit_table(frame, rewards="a+b")


@pytest.mark.parametrize("frame", [paid(0), paid(1000), paid(1e8, 1e6), paid(0, 1e-30), paid(3, 0)])
def test_rewards_that_float32_holds_are_taken_as_they_are(frame):
    found = as_bandit_table(frame, rewards="a+b")
    np.testing.assert_array_equal(found.payoffs, frame[["a", "b"]].to_numpy().astype(np.float32))


@pytest.mark.parametrize(("step", "kept"), [(1, False), (1000, False), (10**9, True)])
def test_contexts_that_even_float64_loses_are_dropped_with_the_reason(step, kept):
    times = 1_700_000_000_000_000_000 + step * (np.arange(50) ** 2 % 37)
    frame = pd.DataFrame({"time": times, "x": np.arange(50) % 7, "kind": np.arange(50) % 2})
    column = as_bandit_table(frame, label="kind").columns[0]
    assert (column.treatment == "number") == kept
    assert ("subtract a constant" in column.note) == (not kept)


def test_one_huge_cost_is_no_offset():
    frame = pd.DataFrame({"x": np.arange(9.0), "kind": list("abc") * 3})
    assert as_bandit_table(frame, label="kind", costs="b:1e30").payoffs.min() == np.float32(-1e30)


def test_logged_rewards_are_refused_too():
    log = pd.DataFrame({"x": np.arange(40) % 7, "action": list("ab") * 20, "reward": 1e8 + np.arange(40) % 3})
    with pytest.raises(UsageError, match="subtract the same number"):
        read_log(log, action="action", reward="reward")
