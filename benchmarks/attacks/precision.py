"""Rewards and contexts far from zero, whose differences float32 may lose."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attacks import Score
from showdown.basics.errors import UsageError
from showdown.data.bandit_table import as_bandit_table

ROWS, ACTIONS = 200, 3
OFFSETS = [sign * 10.0**power for power in range(16) for sign in (1, -1)]
SCALES = [10.0**power for power in range(-40, 13, 4)]


def far_rewards(_: object = None) -> Score:
    """Columns, matrices and costs: refused, or the regret of a random choice is right to 2 %."""
    score = Score("rewards far from 0, or tiny")
    plain = np.random.default_rng(0).normal(size=(ROWS, ACTIONS))
    for offset in OFFSETS:
        for scale in SCALES:
            rewards = offset + scale * plain
            with score.attempt():
                score.silent += _wrong(_by_columns, rewards)
            with score.attempt():
                score.silent += _wrong(_by_matrix, rewards[:2])
    return score


def _wrong(make, rewards: np.ndarray) -> bool:
    try:
        payoffs = make(rewards)
    except UsageError:
        return False
    right, found = (_loss(values.astype(np.float64)) for values in (rewards, payoffs))
    return bool(abs(found - right) > 0.02 * right)


def _loss(rewards: np.ndarray) -> float:
    return float((rewards.max(axis=1) - rewards.mean(axis=1)).mean())


def _by_columns(rewards: np.ndarray) -> np.ndarray:
    frame = pd.DataFrame(rewards, columns=list("abc")).assign(x=np.arange(len(rewards)) % 7)
    return as_bandit_table(frame, rewards="a+b+c").payoffs


def _by_matrix(rewards: np.ndarray) -> np.ndarray:
    frame = pd.DataFrame({"x": np.arange(40) % 7, "kind": np.arange(40) % 2})
    return as_bandit_table(frame, label="kind", reward_matrix=pd.DataFrame(rewards)).payoffs


def far_contexts(_: object = None) -> Score:
    """Contexts come out standardised as in float64, times as seconds, milliseconds and nanoseconds among them."""
    score = Score("context columns far from 0, or tiny")
    plain = np.random.default_rng(1).normal(size=ROWS)
    label = np.arange(ROWS) % 2
    for offset in [0.0, *OFFSETS[:24], 1.7e9, 1.7e12]:
        for scale in SCALES:
            with score.attempt():
                numbers = offset + scale * plain
                if numbers.std() < 1e-9 * abs(offset):  # then float64 itself, and any CSV file, has lost them
                    score.tried -= 1
                    continue
                found = as_bandit_table(pd.DataFrame({"x": numbers, "kind": label}), label="kind").contexts[:, 0]
                score.silent += bool(np.abs(found - (plain - plain.mean()) / plain.std()).max() > 1e-3)
    return score
