"""What a policy earns while it learns, by replay (Li et al. 2011), with an interval by resampling the log.

A replay follows one path: an early mistake costs all later rewards, so rewards of one replay say too little about how
far another would come out. The log is therefore resampled with replacement and replayed several times, with new draws
of the policy (bootstrapped replay, Mary et al. 2014); the interval is Student's, from the spread of these values.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
from scipy.stats import t as student

from showdown.logged.estimators import Estimate
from showdown.logged.live_through import replay
from showdown.logged.log import Log
from showdown.protocol.policy import Policy

RESAMPLES = 20
RESAMPLES_IF_REFIT = 8  # these cost a training each


class ReplayValue(NamedTuple):
    estimate: Estimate
    matches: int  # rows it was made from


def replay_value(policy: Policy, log: Log, key: jax.Array, seed: int, level: float = 0.95) -> ReplayValue:
    """The mean reward of the rows where the policy's choice agrees with the log's; NaN where none does."""
    draw, resamples = np.random.default_rng(seed), RESAMPLES_IF_REFIT if policy.refit_every else RESAMPLES
    usable = usable_rows(log, draw)
    orders = np.stack([np.arange(log.rows), *draw.integers(log.rows, size=(resamples, log.rows))])
    learned = replay(policy, log, jax.random.split(key, resamples + 1), usable, orders)
    matches = learned.sum(axis=1)
    values = (log.rewards[orders] * learned).sum(axis=1) / np.where(matches > 0, matches, np.nan)
    value, spread = float(values[0]), float(np.std(values[1:], ddof=1))
    reach = float(student.ppf(0.5 + level / 2, resamples - 1)) * spread
    count = int(matches[0])
    return ReplayValue(Estimate(value, spread, value - reach, value + reach, "bootstrap", float(count)), count)


def usable_rows(log: Log, draw: np.random.Generator) -> np.ndarray:
    """Rows that replay may use, (rows,) bool: kept at random so that every action is equally likely among them."""
    if log.propensities is None:
        return np.ones(log.rows, bool)
    return draw.random(log.rows) * log.propensities <= log.propensities.min()
