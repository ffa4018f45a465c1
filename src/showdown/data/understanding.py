"""A table understood as a bandit problem: which columns are context, which say the reward, and what was done to each.

Two forms: a label column (one action per class; the right one pays 1, or what a reward matrix or the costs of mistakes
say), or one reward column per action (all rewards of every row are known; the rest is context). Shared by the problem
and by `showdown inspect`, so that what is printed is what is played.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from showdown.data.columns import Column, Encoded, as_days, as_numbers, categories, encode, looks_like_row_name
from showdown.errors import UsageError

MAX_CLASSES = 1000  # of a label; more is a measurement or a name
LIKELY_LABELS = ("class", "label", "target", "outcome", "category", "y")


@dataclass(frozen=True, eq=False)
class Understanding:
    contexts: np.ndarray  # (rows, context_dim) float32
    labels: np.ndarray  # (rows,) int32 class of each row; its own number in the form with reward columns
    payoffs: np.ndarray  # (classes, num_actions) float32
    actions: tuple[str, ...]  # empty where neither a label nor rewards were named
    classes: dict[str, int]  # rows of each class, in the order of `payoffs`; empty in the form with reward columns
    columns: tuple[Column, ...]
    context_names: tuple[str, ...]
    rows_left_out: int  # for want of a label

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def context_dim(self) -> int:
        return self.contexts.shape[1]

    @cached_property
    def digest(self) -> str:
        """What the numbers of a simulation depend on: equal for equal contents, wherever and however they are kept."""
        digest = hashlib.sha256()
        for array in (self.contexts, self.labels, self.payoffs):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:20]


def understand(
    frame: pd.DataFrame,
    *,
    label: str = "",
    rewards: str = "",
    reward_matrix: pd.DataFrame | None = None,
    costs: str = "",
    ignore: str = "",
    categorical: str = "",
    keep: str = "",
) -> Understanding:
    """Make a problem of a table, or say in one sentence why it makes none. With neither form named, only context."""
    if label and rewards:
        raise UsageError("name a label column or reward columns, not both")
    if (reward_matrix is not None or costs) and not label:
        raise UsageError("a reward matrix or costs go with a label column; name it with label=COLUMN")
    if reward_matrix is not None and costs:
        raise UsageError("give a reward matrix or costs, not both")
    names = [str(name) for name in frame.columns]
    ignored, forced, kept = (set(find_columns(text, names)) for text in (ignore, categorical, keep))
    classes: dict[str, int] = {}
    actions: tuple[str, ...] = ()
    labels, payoffs = np.zeros(len(frame), np.int32), np.zeros((0, 0), np.float32)
    roles: dict[str, Column] = {name: Column(name, "dropped", 0, 0, "ignored, as asked") for name in ignored}
    rows_left_out = 0
    if label:
        label = find_column(label, names)
        codes, class_names = _classes(frame[label])
        labelled = codes >= 0
        rows_left_out = int((~labelled).sum())
        if rows_left_out:
            frame, codes = frame[labelled].reset_index(drop=True), codes[labelled]
        labels = codes.astype(np.int32)
        classes = dict(zip(class_names, np.bincount(codes, minlength=len(class_names)).tolist(), strict=True))
        payoffs, actions = _payoffs(class_names, reward_matrix, costs)
        roles[label] = Column(label, "label", 0, rows_left_out)
    elif rewards:
        actions = tuple(find_columns(rewards, names))
        if len(actions) < 2:
            raise UsageError(
                f"rewards must name at least two columns, one per action; {rewards!r} names {actions[0]!r}"
            )
        payoffs = np.stack([_rewards(frame[name]) for name in actions], axis=1)
        labels = np.arange(len(frame), dtype=np.int32)
        roles |= {name: Column(name, "reward", 0, 0) for name in actions}

    encoded = [
        Encoded(roles[name], [], None)
        if name in roles
        else encode(frame[name], categorical=name in forced, keep=name in kept)
        for name in names
    ]
    blocks = [item.values for item in encoded if item.values is not None]
    if not blocks:
        raise UsageError(f"no column is left to be the context: {_why_none(item.column for item in encoded)}")
    return Understanding(
        contexts=np.concatenate(blocks, axis=1),
        labels=labels,
        payoffs=payoffs,
        actions=actions,
        classes=classes,
        columns=tuple(item.column for item in encoded),
        context_names=tuple(name for item in encoded for name in item.names),
        rows_left_out=rows_left_out,
    )


def find_column(text: str, names: list[str]) -> str:
    """The column called `text`, or at that position (from 0; −1 is the last)."""
    if text in names:
        return text
    if re.fullmatch(r"-?\d+", text) and -len(names) <= int(text) < len(names):
        return names[int(text)]
    near = difflib.get_close_matches(text, names, n=1)
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    raise UsageError(
        f"no column is called {text!r}; " + (f"did you mean {near[0]!r}?" if near else f"the columns are {shown}")
    )


def find_columns(text: str, names: list[str]) -> list[str]:
    """The columns that `a+b+c` names; `reward_*` stands for all that match. A name may itself hold a plus."""
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
        if not 2 <= distinct <= min(100, len(series) / 2) or as_days(series) is not None:
            continue
        numbers = as_numbers(series)
        whole = numbers is None or (numbers == np.round(numbers))[np.isfinite(numbers)].all()
        if whole and not looks_like_row_name(series, numbers):
            found[str(name)] = distinct
    last = str(frame.columns[-1])

    def likelihood(name: str) -> tuple[bool, bool, bool]:
        return name.lower() in LIKELY_LABELS, name == last, as_numbers(frame[name]) is None

    return {name: found[name] for name in sorted(found, key=likelihood, reverse=True)}


def _classes(series: pd.Series) -> tuple[np.ndarray, list[str]]:
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


def _payoffs(classes: list[str], matrix: pd.DataFrame | None, costs: str) -> tuple[np.ndarray, tuple[str, ...]]:
    if matrix is not None:
        return _matrix_payoffs(classes, matrix)
    payoffs = np.eye(len(classes), dtype=np.float32)
    for name, cost in _parse_costs(costs).items():
        if name not in classes:
            near = difflib.get_close_matches(name, classes, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the classes are {', '.join(classes[:20])}"
            raise UsageError(f"costs names a class {name!r} that the label does not have; {hint}")
        row = classes.index(name)
        payoffs[row, np.arange(len(classes)) != row] = -cost
    return payoffs, tuple(classes)


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
    elif len(matrix) != len(classes):
        raise UsageError(
            f"the reward matrix has {len(matrix)} rows and the label {len(classes)} classes ({', '.join(classes[:20])})"
        )
    if matrix.shape[1] < 2:
        raise UsageError("the reward matrix must have at least two columns of numbers, one per action")
    return np.stack([_rewards(matrix[name]) for name in matrix.columns], axis=1), tuple(map(str, matrix.columns))


def _rewards(series: pd.Series) -> np.ndarray:
    """A column of rewards in float32, raw; every one must be a finite number."""
    if pd.api.types.is_bool_dtype(series):
        numbers: np.ndarray | None = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = as_numbers(series)
    if numbers is None:
        raise UsageError(f"the reward column {series.name!r} does not hold numbers")
    with np.errstate(over="ignore"):
        values = numbers.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise UsageError(
            f"the reward column {series.name!r} has {wrong.size:,} values that are missing or not finite "
            f"(the first in row {wrong[0] + 1}): every action needs its reward in every row"
        )
    return values


def _why_none(columns: Iterable[Column]) -> str:
    reasons = [f"{column.name!r} {column.note or 'is the ' + column.treatment}" for column in columns]
    return "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more" if len(reasons) > 5 else "")
