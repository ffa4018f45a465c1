"""Features of each action in a table: columns such as `price.heinz41`, or `price1 … price6`, beside a choice.

Columns belong together where they have one stem and end in the names of the actions, or in their numbers: actions
choice1 … choice6 have `price1 … price6`, and reward columns `pay_a`, `pay_b` have `price_a`, `price_b`. A stem is
encoded once for all actions (see `encode_column`), so that a price means the same for each of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.column_rules import Rule
from showdown.data.encode_column import Column, encode

ALL = "all"  # every stem that is found
_SEPARATORS = "._-: "

Stems = dict[str, tuple[str, ...]]  # the columns of each stem, one per action, in the order of the actions


class ActionFeatures(NamedTuple):
    values: np.ndarray  # (rows, num_actions, action_dim) float32
    rules: tuple[Rule, ...]  # one per stem that is used
    columns: dict[str, Column]  # what became of each column

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features of an action."""
        return tuple(name for rule in self.rules for name in rule.names)


def find_stems(names: Sequence[str], actions: Sequence[str]) -> Stems:
    """The stems that have a column for every action; none where actions have no names yet."""
    known = set(names)
    found: Stems = {}
    for keys in _endings(actions):
        for name in names:
            start = name[: -len(keys[0])]
            columns = tuple(start + key for key in keys)
            stem = start.rstrip(_SEPARATORS)
            if stem and name == columns[0] and known.issuperset(columns) and not _is_list(start, keys, names):
                found.setdefault(stem, columns)
    return found


def _is_list(start: str, keys: list[str], names: Sequence[str]) -> bool:
    """Whether columns with these numbers are only some of a longer list, and so hold no features of the actions."""
    numbered = [name for name in names if re.fullmatch(re.escape(start) + r"\d+", name)]
    return keys[0].isdigit() and len(numbered) != len(keys)


def _endings(actions: Sequence[str]) -> list[list[str]]:
    """What the columns of the actions may end in: the whole name, what follows the last separator, or the number."""
    patterns = (r"(.+)", rf".*[{re.escape(_SEPARATORS)}](.+)", r".*?(\d+)")
    found = []
    for pattern in patterns:
        matches = [re.fullmatch(pattern, action) for action in actions]
        keys = [match[1] for match in matches if match]
        if len(actions) > 1 and len(set(keys)) == len(actions) and keys not in found:
            found.append(keys)
    return found


def named_stems(text: str, names: Sequence[str], actions: Sequence[str]) -> Stems:
    """The stems that `price+display`, or `all`, names."""
    found = find_stems(names, actions)
    shown = f"{', '.join(actions[:3])}{', …' if len(actions) > 3 else ''}"
    if not found:
        raise UsageError(
            f"no columns hold features of the actions {shown}: they would be called price.{actions[0]}, or end in the "
            "numbers of the actions"
        )
    if text == ALL and ALL not in found:
        return found
    asked = [part.strip() for part in text.split("+")]
    for stem in asked:
        if stem not in found:
            near = difflib.get_close_matches(stem, list(found), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(found)}"
            raise UsageError(f"no columns hold {stem!r} of each of the actions {shown}; {hint}")
    return {stem: found[stem] for stem in dict.fromkeys(asked)}


def features_of(frame: pd.DataFrame, stems: Stems, actions: Sequence[str], categorical: set[str]) -> ActionFeatures:
    """The features of every action in every row. A stem that says nothing is left out, with the reason."""
    blocks: list[np.ndarray] = []
    rules: list[Rule] = []
    roles: dict[str, Column] = {}
    for stem, columns in stems.items():
        stacked = pd.concat([frame[name] for name in columns], ignore_index=True).rename(stem)
        encoded = encode(stacked, categorical=not categorical.isdisjoint(columns), keep=True)
        for name, action in zip(columns, actions, strict=True):
            missing = int(frame[name].isna().sum())
            roles[name] = Column(name, "feature", 0, missing, f"{stem} of {action}")
            if encoded.rule is None:
                roles[name] = Column(name, "dropped", 0, missing, encoded.column.note)
        if encoded.rule is not None and encoded.values is not None:
            by_action = encoded.values.reshape(len(columns), len(frame), -1)
            blocks.append(np.swapaxes(by_action, 0, 1))
            rules.append(encoded.rule)
    if not blocks:
        raise UsageError(
            f"no feature of the actions is left: {'; '.join(sorted({one.note for one in roles.values()}))}"
        )
    return ActionFeatures(np.ascontiguousarray(np.concatenate(blocks, axis=-1)), tuple(rules), roles)
