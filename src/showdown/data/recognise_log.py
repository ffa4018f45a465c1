"""Whether a table is a log of decisions, by the names and values of its columns."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.data.choose_columns import find_column, find_columns
from showdown.data.column_values import as_numbers

MOST_ACTIONS = 1000

_ACTIONS = ("action", "arm", "decision", "variant", "treatment", "choice", "recommendation", "a")
_REWARDS = ("reward", "payoff", "click", "clicked", "conversion", "converted", "outcome", "r")
_PROPENSITIES = ("propensity", "pscore", "prob", "probability", "p")


class LogColumns(NamedTuple):
    """The columns of a log; the propensity is empty where no column looks like one."""

    action: str
    reward: str
    propensity: str = ""

    def options(self) -> str:
        """Of `showdown evaluate`."""
        return " ".join(f"--{role} {shlex.quote(name)}" for role, name in self._asdict().items() if name)


def looks_like_log(frame: pd.DataFrame) -> LogColumns | None:
    """The columns that make this table a log, or None: it takes an action, a reward and a propensity."""
    found = likely_columns(frame)
    return found if found.action and found.reward and found.propensity else None


def log_played_as_labels(frame: pd.DataFrame, label: str, ignore: str = "", keep: str = "") -> LogColumns | None:
    """The log that this table is, where a column of it is taken for the label, or none is named.

    A log knows the reward of the action taken only: as a label, its action would be played as if it had been the right
    one. Columns that are ignored, or kept on purpose, are taken to be no part of a log.
    """
    names = [str(name) for name in frame.columns]
    found = looks_like_log(frame.drop(columns=[*find_columns(ignore, names), *find_columns(keep, names)]))
    return found if found and (not label or find_column(label, names) in found) else None


def likely_columns(frame: pd.DataFrame) -> LogColumns:
    """The likeliest column for each role; empty where none is likely."""
    actions = [name for name in _called(frame, _ACTIONS) if 2 <= _distinct(frame[name]) <= MOST_ACTIONS]
    rewards = [name for name in _called(frame, _REWARDS) if _numbers(frame[name]) is not None]
    propensities = [name for name in _called(frame, _PROPENSITIES) if _probabilities(frame[name])]
    propensity = next(iter(propensities), "")  # first: `action_prob` is not the action
    reward = next((name for name in rewards if name != propensity), "")
    action = next((name for name in actions if name not in (propensity, reward)), "")
    return LogColumns(action, reward, propensity)


def _called(frame: pd.DataFrame, words: tuple[str, ...]) -> list[str]:
    """Columns with one of these words in their name, best first: the whole name, then the earlier word."""

    def rank(name: str) -> tuple[bool, int] | None:
        parts = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
        places = [place for place, word in enumerate(words) if word in parts and (len(word) > 1 or len(parts) == 1)]
        return (len(parts) > 1, places[0]) if places else None

    ranked = {str(name): rank(str(name)) for name in frame.columns}
    return sorted((name for name, place in ranked.items() if place is not None), key=lambda name: ranked[name] or ())


def _distinct(series: pd.Series) -> int:
    try:
        return int(series.nunique())
    except TypeError:  # nested values
        return 0


def _numbers(series: pd.Series) -> np.ndarray | None:
    if pd.api.types.is_bool_dtype(series):
        return series.to_numpy(np.float64, na_value=np.nan)
    return as_numbers(series) if _distinct(series) else None


def _probabilities(series: pd.Series) -> bool:
    values = _numbers(series)
    if values is None:
        return False
    known = values[np.isfinite(values)]
    return bool(known.size and (known > 0).all() and (known <= 1).all() and (known < 1).any())
