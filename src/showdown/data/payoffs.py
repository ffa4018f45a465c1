"""What each action of a user's table pays: 1 for the right class, or what a reward matrix, costs or columns say.

Rewards are checked in float32, in which everything is played. It has seven digits: rewards of 100,000,000 and
100,000,001 become one number there, the cell would be played to the end and its regret would be 0. So the differences
that matter are compared with the distance from one float32 to the next at the size of the rewards, which may be a
hundredth of them, no more. What matters is what an action chosen at random loses per step; in a log, where one reward
of each row is known, the standard deviation of the rewards.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.column_values import as_numbers, categories, numbers_of

SHARE = 0.01  # of the differences that matter: the largest spacing of float32 that is accepted
_TINY = float(np.finfo(np.float32).tiny)  # numbers below are 0 in a compiled program
_WHOLE = 2.0**24  # up to here float32 holds every whole number


def in_float32(rewards: np.ndarray) -> np.ndarray:
    """Rewards of all actions, (rows or classes, num_actions), finite in float64, as float32."""
    lost = rewards.max(axis=1) / 2 - rewards.mean(axis=1, dtype=np.float64) / 2  # halves cannot overflow
    return _checked(rewards, 2 * float(lost.mean()), "a random choice loses")


def logged_in_float32(rewards: np.ndarray) -> np.ndarray:
    """Rewards of the actions that were taken, (rows,), finite in float64, as float32."""
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


MAX_CLASSES = 1000  # of a label; more is a measurement or a name


def classes_of(series: pd.Series) -> tuple[np.ndarray, list[str]]:
    """The class of each row of a label column (−1 where missing), and the names of the classes."""
    codes, names = categories(series)
    rows = int((codes >= 0).sum())
    if not names:
        raise UsageError(f"the label {series.name!r} has no values")
    if len(names) == 1:
        raise UsageError(f"the label {series.name!r} has one class only ({names[0]!r}): there is nothing to choose")
    if len(names) > MAX_CLASSES or len(names) == rows:
        raise UsageError(
            f"the label {series.name!r} has {len(names):,} different values in {rows:,} rows, "
            f"which is a measurement or a name and not a class (at most {MAX_CLASSES:,}, and some row twice)"
        )
    return codes, names


def payoffs_of(classes: list[str], matrix: pd.DataFrame | None, costs: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """What each action pays for a row of each class, (classes, num_actions), and the names of the actions."""
    if matrix is not None:
        return _matrix_payoffs(classes, matrix)
    payoffs = np.eye(len(classes))
    for name, cost in _parse_costs(costs).items():
        if name not in classes:
            near = difflib.get_close_matches(name, classes, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the classes are {', '.join(classes[:20])}"
            raise UsageError(f"costs names a class {name!r} that the label does not have; {hint}")
        row = classes.index(name)
        payoffs[row, np.arange(len(classes)) != row] = -cost
    return in_float32(payoffs), tuple(classes)


def payoffs_by_row(frame: pd.DataFrame, columns: Sequence[str], labels: np.ndarray) -> np.ndarray:
    """What each action pays in each row, (rows, num_actions): the right one what its column says, the others 0."""
    paid = np.zeros((len(frame), len(columns)))
    for action, name in enumerate(columns):
        right = labels == action
        paid[right, action] = rewards_of(frame[name][right], "a right action needs its payoff")
    return in_float32(paid)


def _parse_costs(text: str) -> dict[str, float]:
    """`a:5+b:1.5` → {a: 5, b: 1.5}; a class may hold a plus or a colon."""
    costs: dict[str, float] = {}
    rest = text
    while rest:
        found = re.match(r"(?P<name>.+?):(?P<cost>(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?:\+|$)", rest, re.IGNORECASE)
        if found is None or float(found["cost"]) > float(np.finfo(np.float32).max):
            raise UsageError(f"costs must be written class:cost+class:cost, with numbers from 0 up, not {text!r}")
        costs[found["name"].strip()] = float(found["cost"])
        rest = rest[found.end() :]
    return costs


def _matrix_payoffs(classes: list[str], matrix: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows are classes, columns actions; a first column of text, or called `class`, says which class each row is."""
    first = matrix.iloc[:, 0]
    if as_numbers(first) is None or str(first.name).lower() == "class":
        codes, names = categories(first)
        found = [names[code] if code >= 0 else "" for code in codes]
        lacking = [name for name in classes if found.count(name) != 1]
        if lacking:
            raise UsageError(f"the reward matrix must have one row for every class, and not so for {lacking[0]!r}")
        matrix = matrix.iloc[[found.index(name) for name in classes], 1:]
    elif _is_index(first):
        raise UsageError(
            f"the first column of the reward matrix, {str(first.name)!r}, looks like a row number and would be an "
            "action: leave it out (with pandas, index=False), or write the names of the classes into it"
        )
    elif len(matrix) != len(classes):
        raise UsageError(
            f"the reward matrix has {len(matrix)} rows and the label {len(classes)} classes ({', '.join(classes[:20])})"
        )
    if matrix.shape[1] < 2:
        raise UsageError("the reward matrix must have at least two columns of numbers, one per action")
    payoffs = np.stack([rewards_of(matrix[name]) for name in matrix.columns], axis=1)
    return in_float32(payoffs), tuple(map(str, matrix.columns))


_INDEX_NAME = re.compile(r"(?i)unnamed: 0|column_0|index|")


def _is_index(first: pd.Series) -> bool:
    """Whether a column is the index that pandas writes: without a name, or called index, and counting from 0 or 1."""
    numbers = as_numbers(first)
    if numbers is None or len(numbers) < 2 or not _INDEX_NAME.fullmatch(str(first.name).strip()):
        return False
    return bool((numbers - numbers[0] == np.arange(len(numbers))).all()) and numbers[0] in (0, 1)


def rewards_of(series: pd.Series, why: str = "every action needs its reward in every row") -> np.ndarray:
    """A column of rewards in float64, raw; every one must be a number that is finite in float32 too."""
    if pd.api.types.is_bool_dtype(series):
        numbers: np.ndarray | None = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = numbers_of(series)
    if numbers is None:
        raise UsageError(f"the reward column {series.name!r} does not hold numbers")
    with np.errstate(over="ignore"):
        wrong = np.flatnonzero(~np.isfinite(numbers.astype(np.float32)))
    if wrong.size:
        raise UsageError(
            f"the reward column {series.name!r} has {wrong.size:,} values that are missing or not finite "
            f"(the first in row {wrong[0] + 1}): {why}"
        )
    return numbers
