"""How features of an action become numbers: as in the table, standardised over all its rows and actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data import encoder_parts as parts
from showdown.data.action_features import Stems
from showdown.data.bandit_table import BanditTable
from showdown.data.column_rules import Rule
from showdown.data.encode_counts import EncodeCounts
from showdown.protocol.problem import MOST_NAMED


@dataclass(frozen=True)
class ActionEncoder:
    rules: tuple[Rule, ...]  # one per stem (price of price.a, price.b), in the order of the table
    shift: tuple[float, ...]  # mean of each number over all rows and actions of the table
    scale: tuple[float, ...]  # its standard deviation; 1 where that is 0
    named: tuple[str, ...]  # actions whose names are features too, a 0/1 for each; another action has zeros there

    @classmethod
    def of(cls, table: BanditTable) -> ActionEncoder | None:
        """That of a table; None where its actions have no features."""
        if table.features is None:
            return None
        values = table.features.values.reshape(-1, table.features.values.shape[-1])
        shift, scale = parts.scaling(values)
        return cls(
            rules=table.features.rules,
            shift=shift,
            scale=scale,
            named=table.actions if len(table.actions) <= MOST_NAMED else (),
        )

    @property
    def dim(self) -> int:
        """How many numbers describe an action."""
        return len(self.shift) + len(self.named)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The features that an action must have."""
        return tuple(rule.name for rule in self.rules)

    def encode(self, name: Any, features: Any, counts: EncodeCounts | None = None) -> np.ndarray:
        """One action, (dim,): features by name, or a list of them in the table's order."""
        if isinstance(features, pd.Series):
            features = dict(features)
        if isinstance(features, Mapping):
            new = parts.check_columns(f"the action {str(name)[:60]!r}", self.columns, features, self.columns)
            if counts is not None:
                for column in new:
                    counts.add("new_columns", column)
            features = [features[column] for column in self.columns]
        is_list = isinstance(features, Sequence | np.ndarray) and not isinstance(features, str | bytes)
        if not is_list or len(features) != len(self.rules):
            raise UsageError(
                f"the action {str(name)[:60]!r} needs its features by name: {', '.join(self.columns[:10])}"
                f"{', …' if len(self.columns) > 10 else ''}"
            )
        for column, value in zip(self.columns, features, strict=True):
            parts.check_cell(column, value)
        blocks = (rule.encode_one(value, counts) for rule, value in zip(self.rules, features, strict=True))
        made = np.zeros(self.dim, np.float32)
        made[: len(self.shift)] = self._standardised(
            np.array([number for block in blocks for number in block], np.float32)
        )
        place = self._places.get(str(name))
        if place is not None:
            made[len(self.shift) + place] = 1
        return made

    def encode_table(self, frame: pd.DataFrame, stems: Stems, actions: Sequence[str]) -> np.ndarray:
        """Every action in every row of a table with columns such as price.a, (rows, actions, dim)."""
        lacking = [column for column in self.columns if column not in stems]
        if lacking:
            raise UsageError(f"the table has no columns with {lacking[0]!r} of each action")
        by_action = []
        for place in range(len(actions)):
            blocks = [rule.encode(frame[stems[rule.name][place]], None) for rule in self.rules]
            by_action.append(np.concatenate(blocks, axis=1))
        return self.of_values(np.stack(by_action, axis=1), actions)

    def of_values(self, values: np.ndarray, actions: Sequence[str]) -> np.ndarray:
        """The features that a table holds, (rows, actions, numbers), as a policy sees them, (rows, actions, dim)."""
        names = np.zeros((len(values), len(actions), len(self.named)), np.float32)
        for place, action in enumerate(actions):
            if action in self._places:
                names[:, place, self._places[action]] = 1
        return np.concatenate([self._standardised(values), names], axis=-1)

    def _standardised(self, numbers: np.ndarray) -> np.ndarray:
        return parts.standardised(numbers, *self._scaling)

    @cached_property
    def _scaling(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.shift, np.float32), np.array(self.scale, np.float32)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.named)}

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "rules": [parts.rule_to_json(rule) for rule in self.rules]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ActionEncoder:
        made = cls(
            rules=tuple(parts.rule_from_json(rule) for rule in data["rules"]),
            **{name: tuple(data[name]) for name in ("shift", "scale", "named")},
        )
        if len(made.shift) != len(made.scale) or len(made.shift) != sum(rule.dims for rule in made.rules):
            raise UsageError("the features of actions in a saved encoder do not fit each other")
        return made
