"""Which columns of a table a person means, which could be the label, and whether the table is a log of decisions."""

from __future__ import annotations

import difflib
import fnmatch
import re
import shlex
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.column_values import as_dates, as_numbers
from showdown.data.encode_column import looks_like_row_name
from showdown.data.written_values import writing_of

LIKELY_LABELS = ("class", "label", "target", "outcome", "category", "y")


def find_column(text: str, names: list[str]) -> str:
    """The column called `text`, or at that position (from 0; −1 is the last)."""
    if text in names:
        return text
    if re.fullmatch(r"-?\d+", text) and -len(names) <= int(text) < len(names):
        return names[int(text)]
    if text.startswith("#") and text.lstrip("# ") in names:  # of a header that is a comment line
        return text.lstrip("# ")
    near = difflib.get_close_matches(text, names, n=1)
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    raise UsageError(
        f"no column is called {text!r}; " + (f"did you mean {near[0]!r}?" if near else f"the columns are {shown}")
    )


def find_columns(text: str, names: list[str]) -> list[str]:
    """The columns that `a+b+c` names; `reward_*` means all that match. A name may itself contain a plus."""
    found: list[str] = []
    parts = text.split("+") if text else []
    while parts:
        for length in range(len(parts), 0, -1):
            part = "+".join(parts[:length]).strip()
            matches = [part] if part in names else fnmatch.filter(names, part) if "*" in part or "?" in part else []
            if matches or length == 1:
                found += matches or [find_column(part, names)]
                parts = parts[length:]
                break
    return list(dict.fromkeys(found))


def possible_labels(frame: pd.DataFrame) -> dict[str, int]:
    """Columns that could be a label, likeliest first, with their numbers of classes."""
    found: dict[str, int] = {}
    for name in frame.columns:
        series = frame[name]
        try:
            distinct = series.nunique()
        except TypeError:  # nested values
            continue
        if not 2 <= distinct <= min(100, len(series) / 2) or as_dates(series) is not None or writing_of(series):
            continue
        numbers = as_numbers(series)
        whole = numbers is None or (numbers == np.round(numbers))[np.isfinite(numbers)].all()
        if whole and not looks_like_row_name(series, numbers):
            found[str(name)] = distinct
    last = str(frame.columns[-1])

    def likelihood(name: str) -> tuple[bool, ...]:
        declared = name == frame.attrs.get("output")  # in a file of KEEL
        return declared, name.lower() in LIKELY_LABELS, name == last, as_numbers(frame[name]) is None

    return {name: found[name] for name in sorted(found, key=likelihood, reverse=True)}


MOST_ACTIONS = 1000

_ACTIONS = ("action", "arm", "decision", "variant", "treatment", "choice", "recommendation", "a", "item")
_REWARDS = ("reward", "payoff", "click", "clicked", "conversion", "converted", "outcome", "r")
_PROPENSITIES = ("propensity", "pscore", "prob", "probability", "p")


class LogColumns(NamedTuple):
    """The columns of a log; the propensity is empty where no column looks like one."""

    action: str
    reward: str
    propensity: str = ""

    def options(self) -> str:
        """The columns as options of `showdown evaluate`."""
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
