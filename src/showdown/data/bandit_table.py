"""A table as a bandit problem: which columns are the context, which give the reward, and what was done to each.

Two forms: a label column (one action per class; the right one pays 1, or what a reward matrix, the costs of mistakes
or a payoff in every row say), or one reward column per action (all rewards of every row are known; the rest is
context). In both, columns may hold features of each action (`action_features`). Shared by the problem and by
`showdown inspect`, so that what is printed is what is played.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.data.action_features import ALL, ActionFeatures, Stems, features_of, named_stems
from showdown.data.choose_columns import find_column, find_columns
from showdown.data.column_rules import Rule
from showdown.data.encode_column import Column, Encoded, encode
from showdown.data.payoffs import classes_of, in_float32, payoffs_by_row, payoffs_of, rewards_of
from showdown.data.table_warnings import FEW_ROWS, warnings_of


@dataclass(frozen=True, eq=False, repr=False)
class BanditTable:
    contexts: np.ndarray  # (rows, context_dim) float32
    labels: np.ndarray  # (rows,) int32 class of each row; its own number in the form with reward columns
    payoffs: np.ndarray  # (classes, num_actions) float32
    actions: tuple[str, ...]  # empty where neither a label nor rewards were named
    classes: dict[str, int]  # rows of each class, in the order of `payoffs`; empty in the form with reward columns
    columns: tuple[Column, ...]
    context_names: tuple[str, ...]
    rules: tuple[Rule, ...]  # how each context column was encoded, in the order of `context_names`
    rows_left_out: int  # because their label is missing
    warnings: tuple[str, ...] = ()  # sentences on what is likely to mislead
    features: ActionFeatures | None = None  # of each action in every row; None: actions have none

    def __repr__(self) -> str:
        sizes = f"{self.rows:,} rows, contexts of {self.context_dim} numbers"
        return wrapped([f"<BanditTable of {sizes}; actions {', '.join(self.actions)}>"], most=5)

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
        features = () if self.features is None else (self.features.values,)
        for array in (self.contexts, self.labels, self.payoffs, *features):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:20]


class _Rewards(NamedTuple):
    """What the label or the reward columns give."""

    frame: pd.DataFrame  # the rows that are played
    labels: np.ndarray
    payoffs: np.ndarray
    actions: tuple[str, ...]
    classes: dict[str, int]
    columns: dict[str, Column]  # those that are not context
    rows_left_out: int


def as_bandit_table(
    frame: pd.DataFrame,
    *,
    label: str = "",
    rewards: str = "",
    reward_matrix: pd.DataFrame | None = None,
    costs: str = "",
    ignore: str = "",
    categorical: str = "",
    keep: str = "",
    features: str = "",
    payoff: str = "",
) -> BanditTable:
    """Make a problem of a table, or say in one sentence why it makes none. With neither form named, only context."""
    _check_request(label, rewards, reward_matrix is not None, costs, features, payoff)
    names = [str(name) for name in frame.columns]
    ignored, forced, kept = (set(find_columns(text, names)) for text in (ignore, categorical, keep))
    found = _rewards_of(frame, names, label, rewards, reward_matrix, costs)
    roles = {**{name: Column(name, "dropped", 0, 0, "ignored, as asked") for name in ignored}, **found.columns}
    free = [name for name in names if name not in roles]
    if payoff:
        found, paid = _paid_by_row(found, payoff, names)
        roles |= {name: Column(name, "reward", 0, 0, "what the action pays where it is right") for name in paid}
        if features == ALL:  # what is paid may be known of the right action alone, and would give it away
            free = [name for name in free if name not in paid]
    of_actions = None
    doubts: list[str] = []
    if features:
        stems = _not_giving_away(found, named_stems(features, free, found.actions), payoff)
        doubts = list(_giving_away(found, stems)) if found.classes and not payoff else []
        of_actions = features_of(found.frame, stems, found.actions, forced)
        roles |= of_actions.columns
    encoded = [
        Encoded(roles[name])
        if name in roles
        else encode(found.frame[name], categorical=name in forced, keep=name in kept)
        for name in names
    ]
    blocks = [item.values for item in encoded if item.values is not None]
    if not blocks and of_actions is not None:
        blocks = [np.ones((len(found.frame), 1), np.float32)]  # actions differ by their features alone
    if not blocks:
        raise UsageError(f"no column is left to be the context: {_why_none(item.column for item in encoded)}")
    rules = tuple(item.rule for item in encoded if item.rule is not None)
    return BanditTable(
        contexts=np.concatenate(blocks, axis=1),
        labels=found.labels,
        payoffs=found.payoffs,
        actions=found.actions,
        classes=found.classes,
        columns=tuple(item.column for item in encoded),
        context_names=tuple(name for item in encoded for name in item.names),
        rules=rules,
        rows_left_out=found.rows_left_out,
        warnings=(*_warnings(found, rules), *doubts),
        features=of_actions,
    )


def _check_request(label: str, rewards: str, matrix: bool, costs: str, features: str, payoff: str) -> None:
    """Raise UsageError for options that do not go together."""
    if label and rewards:
        raise UsageError("name a label column or reward columns, not both")
    if (matrix or costs) and not label:
        raise UsageError("a reward matrix or costs go with a label column; name it with label=COLUMN")
    if matrix and costs:
        raise UsageError("give a reward matrix or costs, not both")
    if (features or payoff) and not label and not rewards:
        raise UsageError("features and payoffs belong to actions: name the column of the choice with label=COLUMN")
    if payoff and (not label or matrix or costs):
        raise UsageError("a payoff goes with a label column alone: the right action of a row then pays it")


def _from_label(frame: pd.DataFrame, label: str, matrix: pd.DataFrame | None, costs: str) -> _Rewards:
    codes, class_names = classes_of(frame[label])
    labelled = codes >= 0
    rows_left_out = int((~labelled).sum())
    if rows_left_out:
        frame, codes = frame[labelled].reset_index(drop=True), codes[labelled]
    payoffs, actions = payoffs_of(class_names, matrix, costs)
    return _Rewards(
        frame=frame,
        labels=codes.astype(np.int32),
        payoffs=payoffs,
        actions=actions,
        classes=dict(zip(class_names, np.bincount(codes, minlength=len(class_names)).tolist(), strict=True)),
        columns={label: Column(label, "label", 0, rows_left_out)},
        rows_left_out=rows_left_out,
    )


def _paid_by_row(found: _Rewards, payoff: str, names: list[str]) -> tuple[_Rewards, tuple[str, ...]]:
    """Rewards by row and action, what `payoff` says of the action where it is right and else 0; and its columns."""
    stems = named_stems(payoff, names, found.actions)
    if len(stems) > 1:
        raise UsageError(f"a payoff is one group of columns, and {payoff!r} names {', '.join(stems)}")
    (columns,) = stems.values()
    payoffs = payoffs_by_row(found.frame, columns, found.labels)
    return found._replace(labels=np.arange(len(payoffs), dtype=np.int32), payoffs=payoffs), columns


def _rewards_of(
    frame: pd.DataFrame, names: list[str], label: str, rewards: str, matrix: pd.DataFrame | None, costs: str
) -> _Rewards:
    """What each action pays in each row; nothing where no form is named."""
    if label:
        return _from_label(frame, find_column(label, names), matrix, costs)
    if rewards:
        return _from_rewards(frame, find_columns(rewards, names), rewards)
    return _Rewards(frame, np.zeros(len(frame), np.int32), np.zeros((0, 0), np.float32), (), {}, {}, 0)


def _not_giving_away(found: _Rewards, stems: Stems, payoff: str) -> Stems:
    """The same, or a UsageError where features are there for the right action of each row alone, as a payoff may be."""
    if payoff in stems and not _known(found, stems[payoff], (found.payoffs != 0).argmax(axis=1)).wrong:
        raise UsageError(
            f"the columns {payoff!r} hold a value for the right action of each row alone, so as features they "
            f"would give the answer away: leave {payoff!r} out of the features"
        )
    return stems


def _giving_away(found: _Rewards, stems: Stems) -> Iterator[str]:
    """A warning for each feature that the right actions alone have."""
    right = found.payoffs[found.labels].argmax(axis=1)
    for stem, columns in stems.items():
        known = _known(found, columns, right)
        if known.right >= FEW_ROWS and not known.wrong:
            yield (
                f"the columns {stem!r} hold a value for the right action of a row alone, so as features they give the "
                f"answer away: leave {stem!r} out of the features, unless it is known before the decision"
            )


class _Known(NamedTuple):
    """How many values there are that are neither missing nor 0."""

    right: int  # of the right action of a row
    wrong: int  # of others


def _known(found: _Rewards, columns: Sequence[str], right: np.ndarray) -> _Known:
    values = [(found.frame[name].notna() & (found.frame[name] != 0)).to_numpy() for name in columns]
    known = np.stack(values, axis=1)
    of_right = int(known[np.arange(len(known)), right].sum())
    return _Known(of_right, int(known.sum()) - of_right)


def _from_rewards(frame: pd.DataFrame, actions: list[str], asked: str) -> _Rewards:
    if len(actions) < 2:
        raise UsageError(f"rewards must name at least two columns, one per action; {asked!r} names {actions[0]!r}")
    return _Rewards(
        frame=frame,
        labels=np.arange(len(frame), dtype=np.int32),
        payoffs=in_float32(np.stack([rewards_of(frame[name]) for name in actions], axis=1)),
        actions=tuple(actions),
        classes={},
        columns={name: Column(name, "reward", 0, 0) for name in actions},
        rows_left_out=0,
    )


def _warnings(found: _Rewards, rules: tuple[Rule, ...]) -> tuple[str, ...]:
    if not found.actions:  # the label is still among the columns
        return ()
    rewards = [name for name, column in found.columns.items() if column.treatment == "reward"]
    return warnings_of(found.frame, rules, found.labels, found.classes, rewards)


def _why_none(columns: Iterable[Column]) -> str:
    reasons = [f"{column.name!r} {column.note or 'is the ' + column.treatment}" for column in columns]
    return "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more" if len(reasons) > 5 else "")
