"""Rewards of a user's table in float32, in which everything is played, or a sentence where it cannot hold them.

float32 has seven digits. Rewards of 100,000,000 and 100,000,001 become one number there: the cell would be played to
the end and its regret would be 0. So the differences that matter are compared with the distance from one float32 to the
next at the size of the rewards, which may be a hundredth of them, no more. What matters is what an action chosen at
random loses per step; in a log, where one reward of each row is known, the standard deviation of the rewards.
"""

from __future__ import annotations

import numpy as np

from showdown.basics.errors import UsageError

SHARE = 0.01  # of the differences that matter: the largest spacing of float32 that is accepted
_TINY = float(np.finfo(np.float32).tiny)  # numbers below are 0 in a compiled program
_WHOLE = 2.0**24  # up to here float32 holds every whole number


def in_float32(rewards: np.ndarray) -> np.ndarray:
    """Rewards of all actions, (rows or classes, num_actions), finite in float64, as float32."""
    lost = rewards.max(axis=1) / 2 - rewards.mean(axis=1, dtype=np.float64) / 2  # halves cannot overflow
    return _checked(rewards, 2 * float(lost.mean()), "a random choice loses")


def logged_in_float32(rewards: np.ndarray) -> np.ndarray:
    """Rewards of the actions that were taken, (rows,), likewise."""
    return _checked(rewards, float(rewards.std()), "their standard deviation is")


def _checked(rewards: np.ndarray, differences: float, called: str) -> np.ndarray:
    largest = float(np.abs(rewards).max())
    rounded = rewards.astype(np.float32)
    spacing = float(np.maximum(np.spacing(np.abs(rounded)), _TINY).mean(dtype=np.float64))
    all_equal = differences == 0 and largest <= _WHOLE  # above, float64 may have lost the differences already
    if spacing <= SHARE * differences or all_equal:
        return rounded
    remedy = "multiply them by a large number" if largest < SHARE else "subtract the same number from all of them"
    raise UsageError(
        f"the rewards are as large as {largest:.4g} and {called} {differences:.3g}, too little for float32, which has "
        f"steps of {spacing:.3g} there (1 % is the most); {remedy}: regret is a difference and stays comparable"
    )
