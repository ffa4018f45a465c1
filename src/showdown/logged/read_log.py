"""Reading a log: a file or a DataFrame with a row per decision, and which actions were available at each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.basics.text import plus_joined
from showdown.data.action_features import named_stems
from showdown.data.bandit_table import as_bandit_table
from showdown.data.choose_columns import find_column, find_columns, likely_columns
from showdown.data.column_values import as_dates, as_numbers, categories
from showdown.data.delimited import DelimiterName, Header
from showdown.data.encoder import Encoder
from showdown.data.in_memory import as_frame
from showdown.data.payoffs import logged_in_float32, rewards_of
from showdown.data.read_table import read_table
from showdown.logged.action_features import offered_features, read_items
from showdown.logged.log import Log

FEWEST = 10  # rows


class LogOptions(TypedDict, total=False):
    """What the columns of a log are; see `read_log`."""

    action: str
    reward: str
    propensity: str
    time: str
    available: str | Sequence[str]
    ignore: str | Sequence[str]
    categorical: str | Sequence[str]
    keep: str | Sequence[str]
    items: Any
    features: str | Sequence[str]
    where: str
    delimiter: DelimiterName
    header: Header


def read_log(
    data: Any,
    *,
    action: str = "",
    reward: str = "",
    propensity: str = "",
    time: str = "",
    available: str | Sequence[str] = "",
    ignore: str | Sequence[str] = "",
    categorical: str | Sequence[str] = "",
    keep: str | Sequence[str] = "",
    items: Any = None,
    features: str | Sequence[str] = "",
    where: str = "",
    delimiter: DelimiterName = "auto",
    header: Header = "auto",
) -> Log:
    """The log in a file, a DataFrame or arrays by name. Columns without a role are the context.

    `action` and `reward` name the columns of what was done and what it paid, `propensity` that of the probability with
    which it was done, `time` one to sort by. `available` names a column of lists of actions (`a|b|c`), or a 0/1 column
    for each action, such as `available_*`. Without `action` and `reward`, likely names are looked for.

    `items` is a table with features of each action, `features` names columns of the log that hold some of each action
    (see `action_features.py`), and `where` leaves the rows out that are not so: `position=1`. Several columns are `a+b`
    or a list.
    """
    frame = read_table(data, delimiter, header).table if isinstance(data, str | os.PathLike) else as_frame(data)
    if where:
        frame = _matching(frame, where)
    roles = _roles(frame, action, reward, propensity, time, plus_joined(available))
    if time:
        frame = frame.iloc[np.argsort(_times(frame[roles.time]), kind="stable")]
    logged = categories(frame[roles.action])[0] >= 0
    if not logged.any():
        raise UsageError(f"no row of the log has an action in {roles.action!r}")
    if logged.sum() < FEWEST:
        raise UsageError(f"the log has {logged.sum()} decisions, and nothing can be said from fewer than {FEWEST}")
    named = {"ignore": ignore, "categorical": categorical, "keep": keep}
    options = {name: plus_joined(columns) for name, columns in named.items()}
    of_actions = _Features(items, plus_joined(features))
    return _assembled(frame[logged].reset_index(drop=True), roles, int((~logged).sum()), options, of_actions)


class _Features(NamedTuple):
    """Where features of actions come from."""

    items: Any  # a table; None: there is none
    stems: str


def _matching(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    name, equals, value = where.partition("=")
    if not equals:
        raise UsageError(f"where is written COLUMN=VALUE, not {where!r}")
    column = find_column(name.strip(), [str(name) for name in frame.columns])
    codes, texts = categories(frame[column])
    if value.strip() not in texts:
        raise UsageError(f"no row has {value.strip()!r} in {column!r}; there are {', '.join(texts[:20])}")
    return frame[codes == texts.index(value.strip())].drop(columns=column).reset_index(drop=True)


class _Roles(NamedTuple):
    action: str
    reward: str
    propensity: str
    time: str
    available: list[str]

    @property
    def columns(self) -> list[str]:
        named = self.action, self.reward, self.propensity, self.time
        return [*filter(None, named), *self.available]


def _roles(frame: pd.DataFrame, action: str, reward: str, propensity: str, time: str, available: str) -> _Roles:
    names = [str(name) for name in frame.columns]
    if not action or not reward:
        likely = likely_columns(frame)
        action, reward, propensity = action or likely.action, reward or likely.reward, propensity or likely.propensity
    for role, name in (("action", action), ("reward", reward)):
        if not name:
            raise UsageError(f"say which column is the {role}; the columns are {', '.join(names[:20])}")
    action, reward, propensity, time = (
        find_column(name, names) if name else "" for name in (action, reward, propensity, time)
    )
    roles = _Roles(action, reward, propensity, time, find_columns(available, names))
    if len(set(roles.columns)) < len(roles.columns):
        twice = next(name for name in roles.columns if roles.columns.count(name) > 1)
        raise UsageError(f"the column {twice!r} cannot have two roles in the log")
    return roles


def _assembled(
    frame: pd.DataFrame, roles: _Roles, left_out: int, options: dict[str, str], of_actions: _Features
) -> Log:
    codes, logged = categories(frame[roles.action])
    allowed, names = available_actions(frame, roles.available, logged)
    items = offered = None
    if of_actions.items is not None:
        if allowed is not None:
            raise UsageError("items and available actions cannot both say which actions there are: leave one out")
        items, names = read_items(of_actions.items, roles.action, logged)
    if of_actions.stems:
        free = [str(name) for name in frame.columns if name not in roles.columns]
        stems = named_stems(of_actions.stems, free, names)
        offered = offered_features(frame, stems, names)
        frame = frame.drop(columns=[name for columns in stems.values() for name in columns])
    if len(logged) == len(frame) > 2:
        raise UsageError(f"the column {roles.action!r} has another value in every row: it cannot be the action")
    contexts, encoder = _contexts(frame, codes, roles, options)
    rewards = rewards_of(frame[roles.reward], "the log needs every reward, and leaving rows out would bias it")
    return Log(
        contexts=contexts,
        actions=codes.astype(np.int32),
        rewards=logged_in_float32(rewards).astype(np.float64),
        propensities=_propensities(frame[roles.propensity]) if roles.propensity else None,
        action_names=tuple(names),
        available=allowed,
        timed=bool(roles.time),
        encoder=encoder and replace(encoder, action_names=tuple(names)),
        rows_left_out=left_out,
        items=items,
        offered=offered,
    )


def _contexts(
    frame: pd.DataFrame, codes: np.ndarray, roles: _Roles, options: dict[str, str]
) -> tuple[np.ndarray, Encoder | None]:
    """The context of each decision, and how it was made; a single zero where the log has no column left for it."""
    context = frame[[str(name) for name in frame.columns if name not in roles.columns]]
    if context.empty:
        return np.zeros((len(frame), 1), np.float32), None
    # the actions stand in for a label, so that the context is encoded as that of any other table
    label = codes if codes.any() else np.arange(len(frame)) % 2
    table = as_bandit_table(context.assign(**{roles.action: label}), label=roles.action, **options)
    encoder = Encoder.of(table)
    return encoder.standardise(table.contexts), replace(encoder, ignored=(*encoder.ignored, *roles.columns[1:]))


def _times(series: pd.Series) -> np.ndarray:
    dates = as_dates(series)
    found = as_numbers(series) if dates is None else dates.to_numpy("datetime64[ns]")
    if found is None or pd.isna(found).any():
        raise UsageError(f"the time column {series.name!r} must hold a number or a date in every row")
    return found


def _propensities(series: pd.Series) -> np.ndarray:
    numbers = as_numbers(series)
    if numbers is None:
        raise UsageError(f"the propensity column {series.name!r} does not hold numbers")
    return numbers


def available_actions(
    frame: pd.DataFrame, columns: list[str], logged: list[str]
) -> tuple[np.ndarray | None, list[str]]:
    """(rows, num_actions) bool and the names of all actions, those that were taken first; None where all always are."""
    if not columns:
        return None, logged
    if len(columns) == 1:
        return _from_lists(frame[columns[0]], logged)
    owners = [_owner(column, logged) for column in columns]
    if sorted(owners) != sorted(logged):
        lacking = next((name for name in logged if owners.count(name) != 1), "")
        raise UsageError(f"the available actions need a column for each action, and not so for {lacking!r}")
    by_action = {owner: _flags(frame[column]) for owner, column in zip(owners, columns, strict=True)}
    return np.stack([by_action[name] for name in logged], axis=1), logged


def _from_lists(series: pd.Series, logged: list[str]) -> tuple[np.ndarray, list[str]]:
    lists = [_listed(value) for value in series]
    names = [*logged, *sorted({name for row in lists for name in row} - set(logged))]
    place = {name: number for number, name in enumerate(names)}
    allowed = np.zeros((len(series), len(names)), bool)
    for row, each in enumerate(lists):
        allowed[row, [place[name] for name in each]] = True
    empty = np.flatnonzero(~allowed.any(axis=1))
    if empty.size:
        raise UsageError(f"the column {series.name!r} names no available action in row {empty[0] + 1}")
    return allowed, names


def _listed(value: Any) -> list[str]:
    if isinstance(value, list | tuple | set | np.ndarray):
        return [str(item).strip() for item in value]
    if value is None or value != value:
        return []
    parts = re.split(r"[|;,]" if re.search(r"[|;,]", str(value)) else r"\s+", str(value).strip("[](){} "))
    return [part.strip(" '\"") for part in parts if part.strip(" '\"")]


def _owner(column: str, actions: list[str]) -> str:
    """The action whose name a column ends with; the longest where several do."""
    return max((name for name in actions if column.endswith(name)), key=len, default="")


def _flags(series: pd.Series) -> np.ndarray:
    numbers = series.to_numpy(np.float64) if pd.api.types.is_bool_dtype(series) else as_numbers(series)
    if numbers is None or not np.isin(numbers, (0, 1)).all():
        raise UsageError(f"the column {series.name!r} of available actions must hold 0 or 1")
    return numbers == 1
