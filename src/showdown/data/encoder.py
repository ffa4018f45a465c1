"""A table's encoding as a saved value: any later row becomes the context that the benchmark's policies saw.

    problem = table("customers.csv", label="bought")
    encoder = Encoder.for_problem(problem)
    encoder.encode({"age": 41, "income": None, "region": "north", ...})  # (context_dim,) float32
    encoder.action_names[2], encoder.action_of("plus")

Values are treated as they were in the table (see `encode_column`), then standardised. The benchmark standardises over
the rows of a trial, the encoder over all rows of the table.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.data import encoder_parts as parts
from showdown.data.action_encoder import ActionEncoder
from showdown.data.bandit_table import BanditTable
from showdown.data.column_rules import Rule
from showdown.data.encode_counts import EncodeCounts

FORMAT = 1  # of `to_json`


class HasTable(Protocol):
    """A problem, made of a table (`table[path=…,label=…]`) or not."""

    def bandit_table(self) -> BanditTable | None: ...


@dataclass(frozen=True, repr=False)
class Encoder:
    rules: tuple[Rule, ...]  # one per column that is context, in the order of the table
    ignored: tuple[str, ...]  # columns of the table that are not context: label, rewards, dropped
    shift: tuple[float, ...]  # mean of each coordinate over the table
    scale: tuple[float, ...]  # its standard deviation; 1 where that is 0
    action_names: tuple[str, ...]
    of_actions: ActionEncoder | None = None  # where actions have features

    def __repr__(self) -> str:
        columns = ", ".join(rule.name for rule in self.rules)
        sizes = f"{len(self.rules)} columns to {len(self.shift)} numbers"
        return wrapped([f"<Encoder of {sizes} ({columns}); actions {', '.join(self.action_names)}>"], most=5)

    @classmethod
    def for_problem(cls, problem: HasTable) -> Encoder:
        table = problem.bandit_table()
        if table is None:
            raise UsageError(
                f"an encoder is made of a table of yours (showdown.problems.table), not of a {type(problem).__name__}"
            )
        return cls.of(table)

    @classmethod
    def of(cls, table: BanditTable) -> Encoder:
        shift, scale = parts.scaling(table.contexts)
        used = {rule.name for rule in table.rules}
        return cls(
            rules=table.rules,
            ignored=tuple(column.name for column in table.columns if column.name not in used),
            shift=shift,
            scale=scale,
            action_names=table.actions,
            of_actions=ActionEncoder.of(table),
        )

    @property
    def context_dim(self) -> int:
        return len(self.shift)

    @property
    def action_dim(self) -> int:
        """How many numbers describe an action; 0 where actions have no features."""
        return 0 if self.of_actions is None else self.of_actions.dim

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns a row must have."""
        return tuple(rule.name for rule in self.rules)

    @cached_property
    def context_names(self) -> tuple[str, ...]:
        return tuple(name for rule in self.rules for name in rule.names)

    def action_of(self, name: Any) -> int:
        """The number of the action called `name`."""
        text = str(name)
        if text in self._actions:
            return self._actions[text]
        near = difflib.get_close_matches(text, self.action_names, n=1)
        shown = ", ".join(self.action_names[:20]) + (", …" if len(self.action_names) > 20 else "")
        hint = f"did you mean {near[0]!r}?" if near else f"the actions are {shown}"
        raise UsageError(f"no action is called {text!r}; {hint}")

    def encode(self, row: Any, counts: EncodeCounts | None = None) -> np.ndarray:
        """The context of a row, (context_dim,) float32, or of many rows, (rows, context_dim).

        A row is a mapping or a pandas Series with the table's column names, or a list or array with a value for each
        context column in the table's order. Rows are a DataFrame, a 2-D array or a list of rows. An array as wide as a
        context, where that is not the number of columns, is taken to be encoded already and returned as it is.
        `counts` adds up what was unusual. A missing column, a wrong length, and a list or a mapping where a table has
        one value, are UsageErrors.
        """
        if isinstance(row, pd.DataFrame):
            return self._encode_frame(row, counts)
        if isinstance(row, pd.Series):
            named = not set(row.index).isdisjoint(self.columns)
            row = dict(row) if named else row.to_numpy()
        if isinstance(row, Mapping):
            self._check_columns(row, 1, counts)
            return self._encode_row([row[name] for name in self.columns], counts)
        if isinstance(row, np.ndarray) and row.ndim == 2:
            return self._encode_matrix(row, counts)
        if isinstance(row, Sequence) and row and isinstance(row[0], Mapping | pd.Series | list | tuple | np.ndarray):
            return np.stack([self.encode(each, counts) for each in row])
        flat = isinstance(row, Sequence) or (isinstance(row, np.ndarray) and row.ndim == 1)
        if isinstance(row, str | bytes) or not flat:
            raise UsageError(f"a row is a mapping or a list of values, not {type(row).__name__}")
        if len(row) != len(self.rules):
            return self._encode_matrix(np.asarray(row, object)[None], counts)[0]
        return self._encode_row(row, counts)

    def _encode_row(self, values: Sequence[Any] | np.ndarray, counts: EncodeCounts | None) -> np.ndarray:
        for name, value in zip(self.columns, values, strict=True):
            parts.check_cell(name, value)
        if counts is not None:
            counts.add_rows(1)
        if not self.rules:  # actions differ by their features alone, and the context is a constant
            return np.zeros(self.context_dim, np.float32)
        blocks = (rule.encode_one(value, counts) for rule, value in zip(self.rules, values, strict=True))
        return self.standardise(np.array([number for block in blocks for number in block], np.float32))

    def _encode_frame(self, frame: pd.DataFrame, counts: EncodeCounts | None) -> np.ndarray:
        columns = {str(name): position for position, name in enumerate(frame.columns)}
        self._check_columns(columns, len(frame), counts)
        own = {name: frame.iloc[:, columns[name]] for name in self.columns}
        for name, series in own.items():
            for value in series if series.dtype == object else ():
                parts.check_cell(name, value)
        if counts is not None:
            counts.add_rows(len(frame))
        if not self.rules:
            return np.zeros((len(frame), self.context_dim), np.float32)
        blocks = [rule.encode(own[rule.name], counts) for rule in self.rules]
        return self.standardise(np.concatenate(blocks, axis=1))

    def _encode_matrix(self, rows: np.ndarray, counts: EncodeCounts | None) -> np.ndarray:
        """Rows of an array: a value for each column, or contexts already."""
        width = rows.shape[1]
        if width == len(self.rules):
            return self._encode_frame(pd.DataFrame(rows, columns=list(self.columns)).infer_objects(), counts)
        if width != self.context_dim:
            raise UsageError(
                f"a row has {len(self.rules)} values here ({', '.join(self.columns[:10])}"
                f"{', …' if len(self.rules) > 10 else ''}), or {self.context_dim} once encoded, not {width}"
            )
        try:
            contexts = rows.astype(np.float32)
        except (TypeError, ValueError, OverflowError):
            raise UsageError("an encoded context holds numbers only, none too large for a float") from None
        if not np.isfinite(contexts).all():
            raise UsageError("an encoded context must hold finite numbers")
        return contexts

    def standardise(self, coordinates: np.ndarray) -> np.ndarray:
        """Coordinates as contexts; NaN, which says nothing, becomes the table's mean: 0."""
        return parts.standardised(coordinates, *self._scaling)

    def _check_columns(self, present: Mapping[Any, Any], rows: int, counts: EncodeCounts | None) -> None:
        new = parts.check_columns("the row", self.columns, present, self._known)
        if counts is not None:
            for name in new:
                counts.add("new_columns", name, rows)

    @cached_property
    def _scaling(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.shift, np.float32), np.array(self.scale, np.float32)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset((*self.columns, *self.ignored))

    @cached_property
    def _actions(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.action_names)}

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data for `json.dumps`."""
        of_actions = {} if self.of_actions is None else {"of_actions": self.of_actions.to_json()}
        return {
            "format": FORMAT,
            "rules": [parts.rule_to_json(rule) for rule in self.rules],
            "ignored": list(self.ignored),
            "shift": list(self.shift),
            "scale": list(self.scale),
            "action_names": list(self.action_names),
            **of_actions,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Encoder:
        """The encoder that `to_json` wrote."""
        try:
            if data["format"] != FORMAT:
                raise UsageError(f"the encoder is saved in format {data['format']}, and this version reads {FORMAT}")
            of_actions = data.get("of_actions")
            return cls(
                rules=tuple(parts.rule_from_json(rule) for rule in data["rules"]),
                **{name: tuple(data[name]) for name in ("ignored", "shift", "scale", "action_names")},
                of_actions=None if of_actions is None else ActionEncoder.from_json(of_actions),
            )
        except (KeyError, TypeError) as error:
            raise UsageError(f"this is not a saved encoder ({type(error).__name__}: {error})") from None
