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
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.bandit_table import BanditTable
from showdown.data.column_rules import CategoryRule, NumberRule, Rule
from showdown.data.encode_counts import EncodeCounts

FORMAT = 1  # of `to_json`
_RULES: dict[str, type[NumberRule] | type[CategoryRule]] = {"number": NumberRule, "category": CategoryRule}
_CONTAINERS = (list, dict, set, np.ndarray, pd.Series, pd.DataFrame)  # none is one cell of a table; a tuple may be


class HasTable(Protocol):
    """A problem, made of a table (`table[path=…,label=…]`) or not."""

    def bandit_table(self) -> BanditTable | None: ...


@dataclass(frozen=True)
class Encoder:
    rules: tuple[Rule, ...]  # one per column that is context, in the order of the table
    ignored: tuple[str, ...]  # columns of the table that are not context: label, rewards, dropped
    shift: tuple[float, ...]  # mean of each coordinate over the table
    scale: tuple[float, ...]  # its standard deviation; 1 where that is 0
    action_names: tuple[str, ...]

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
        shift = table.contexts.mean(axis=0, dtype=np.float64).astype(np.float32)
        scale = np.sqrt(np.square(table.contexts - shift, dtype=np.float64).mean(axis=0)).astype(np.float32)
        used = {rule.name for rule in table.rules}
        return cls(
            rules=table.rules,
            ignored=tuple(column.name for column in table.columns if column.name not in used),
            shift=tuple(shift.tolist()),
            scale=tuple(np.where(scale > 0, scale, 1).tolist()),
            action_names=table.actions,
        )

    @property
    def context_dim(self) -> int:
        return len(self.shift)

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
            _check_cell(name, value)
        if counts is not None:
            counts.add_rows(1)
        parts = (rule.encode_one(value, counts) for rule, value in zip(self.rules, values, strict=True))
        return self.standardise(np.array([number for part in parts for number in part], np.float32))

    def _encode_frame(self, frame: pd.DataFrame, counts: EncodeCounts | None) -> np.ndarray:
        columns = {str(name): position for position, name in enumerate(frame.columns)}
        self._check_columns(columns, len(frame), counts)
        own = {name: frame.iloc[:, columns[name]] for name in self.columns}
        for name, series in own.items():
            for value in series if series.dtype == object else ():
                _check_cell(name, value)
        if counts is not None:
            counts.add_rows(len(frame))
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
        shift, scale = self._scaling
        return np.nan_to_num((coordinates - shift) / scale, nan=0.0)

    def _check_columns(self, present: Mapping[Any, Any], rows: int, counts: EncodeCounts | None) -> None:
        lacking = [name for name in self.columns if name not in present]
        new = [str(name) for name in present if name not in self._known]
        if lacking:
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            near = difflib.get_close_matches(lacking[0], new, n=1)
            hint = f"; is it {near[0]!r}?" if near else "; give None where a value is not known"
            raise UsageError(f"the row has no column {lacking[0]!r}{more}{hint}")
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
        kinds = {rule: kind for kind, rule in _RULES.items()}
        return {
            "format": FORMAT,
            "rules": [{"kind": kinds[type(rule)], **asdict(rule)} for rule in self.rules],
            "ignored": list(self.ignored),
            "shift": list(self.shift),
            "scale": list(self.scale),
            "action_names": list(self.action_names),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Encoder:
        """The encoder that `to_json` wrote."""
        try:
            if data["format"] != FORMAT:
                raise UsageError(f"the encoder is saved in format {data['format']}, and this version reads {FORMAT}")
            return cls(
                rules=tuple(_rule_from_json(rule) for rule in data["rules"]),
                **{name: tuple(data[name]) for name in ("ignored", "shift", "scale", "action_names")},
            )
        except (KeyError, TypeError) as error:
            raise UsageError(f"this is not a saved encoder ({type(error).__name__}: {error})") from None


def _check_cell(column: str, value: Any) -> None:
    """Raise UsageError for a list or the like in a row: a mistake of the caller's program, not a missing value."""
    if isinstance(value, _CONTAINERS):
        kind = "an object" if isinstance(value, Mapping) else "a list"
        raise UsageError(f"the row holds {kind} in the column {column!r}; give a number, text, a date or None")


def _rule_from_json(data: Mapping[str, Any]) -> Rule:
    fields: dict[str, Any] = {
        name: tuple(item) if isinstance(item, list) else item for name, item in data.items() if name != "kind"
    }
    return _RULES[data["kind"]](**fields)
