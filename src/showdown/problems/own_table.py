"""A table of your own as a problem: a file, a pandas DataFrame or NumPy arrays, with a label or with reward columns.

A trial is a random order of the rows, and contexts are standardised on the rows of the trial, as in the paper's
classification problems. With a label there is one action per class: the right one pays 1, a wrong one 0, unless a
reward matrix or the costs of mistakes say otherwise. With reward columns there is one action per column, paid as it
is. Columns may hold features of each action (`showdown.data.action_features`). What is done with each column is
described in `showdown.data.encode_column` and printed by `showdown inspect FILE`.

A table is known by the digest of what was understood of it (contexts, classes, rewards), so neither the spelling of a
path nor the format of a file changes the numbers, and any change of content does.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from showdown.basics.errors import MissingDataError, NoFileNamedError, UsageError
from showdown.basics.text import name_of_file, plain_name, plus_joined
from showdown.config import config, non_negative, param
from showdown.data.delimited import DelimiterName, Header
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, LabelledTables, check_horizon

if TYPE_CHECKING:  # pandas is loaded only when a table is read
    import pandas as pd

    from showdown.data.bandit_table import BanditTable

_OPTIONS = ("label", "rewards", "costs", "ignore", "categorical", "keep", "features", "payoff")  # of `as_bandit_table`


class TableOptions(TypedDict, total=False):
    """How a table is read, besides its label or its reward columns; see `table`."""

    reward_matrix: Any
    costs: str | Mapping[str, float]
    ignore: str | Sequence[str]
    categorical: str | Sequence[str]
    keep: str | Sequence[str]
    features: str | Sequence[str]
    payoff: str
    delimiter: DelimiterName
    header: Header
    name: str


_in_memory: dict[str, BanditTable] = {}  # digest → a table that was given in this process, not read from a file


@config
class Table(LabelledRows):
    """A table of your own: table[path=FILE,label=COLUMN] or table[path=FILE,rewards=COLUMN+COLUMN]."""

    # the digest represents all fields that do not count for the identity
    path: str = param("", "the file: CSV, JSON, Parquet, ARFF, KEEL or NumPy", identity=False)
    label: str = param("", "column of the right class, by name or position", identity=False)
    rewards: str = param("", "or reward columns, one per action: a+b+c or reward_*", identity=False)
    reward_matrix: str = param("", "a file: a row per class, a column per action", identity=False)
    costs: str = param("", "or what a mistake costs, by class: spam:1+ham:20", identity=False)
    ignore: str = param("", "columns left out: a+b", identity=False)
    categorical: str = param("", "columns of numbers that are categories: a+b", identity=False)
    keep: str = param("", "columns kept though they look like row names: a+b", identity=False)
    features: str = param("", "features of each action, price.NAME by stem: price+display, or all", identity=False)
    payoff: str = param("", "what the right action pays, by stem: margin", identity=False)
    delimiter: DelimiterName = param("auto", "of text", identity=False)
    header: Header = param("auto", "whether text begins with column names", identity=False)
    name: str = param("", "what it is called in tables; empty: the file's name", identity=False)
    digest: str = param("", "of what was understood; filled in when the table is read")
    horizon: int = param(0, "steps of one trial; 0 becomes the number of rows", non_negative)

    @property
    def has_labels(self) -> bool:
        return bool(self.label)  # reward columns have no right one

    @property
    def called(self) -> str:
        """What the table is called in tables and on pages: its name or that of its file, never a path."""
        return plain_name(self.name) or name_of_file(self.path)

    def resolve(self) -> Table:
        """This table with its file read: an absolute path, the digest and, where none was asked for, the horizon."""
        if not self.path and not self.digest:
            return self
        located: dict[str, Any] = {
            name: str(Path(getattr(self, name)).expanduser().absolute())
            for name in ("path", "reward_matrix")
            if getattr(self, name)
        }
        return _filled(dataclasses.replace(self, **located), self.bandit_table())

    def check(self) -> None:
        super().check()
        if not self.path and not self.digest:
            raise NoFileNamedError(
                "table needs a file of yours: table[path=FILE,label=COLUMN]; "
                "`showdown inspect FILE` says which columns could be the label"
            )
        if not self.digest:
            raise UsageError("this table has not been read yet: make it with showdown.problems.table(path, label=…)")

    def bandit_table(self) -> BanditTable:
        """What was understood of the table; the file is read again only when it has changed."""
        if not self.path:
            if self.digest not in _in_memory:
                raise MissingDataError(
                    f"the table {self.digest} was given in memory and this process does not have it; "
                    "call showdown.problems.table(...) with it here, or keep it in a file"
                )
            return _in_memory[self.digest]
        options = tuple(getattr(self, name) for name in _OPTIONS)
        found = _read_bandit_table(
            _stamped(self.path), _stamped(self.reward_matrix), self.delimiter, self.header, options
        )
        if self.digest and found.digest != self.digest:
            raise UsageError(f"{self.path} no longer holds what it held when this problem was made from it")
        return found

    def __reduce__(self) -> Any:
        """For another process, which gets the content of a table in memory too."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _received, (fields, None if self.path else _in_memory.get(self.digest))

    def load(self) -> LabelledTables:
        self.check()
        found = self.bandit_table()
        features = None if found.features is None else found.features.values
        return LabelledTables(found.contexts, found.labels, found.payoffs, features)


def table(
    data: Any,
    *,
    label: Any = "",
    rewards: Any = "",
    reward_matrix: Any = "",
    costs: str | Mapping[str, float] = "",
    ignore: str | Sequence[str] = "",
    categorical: str | Sequence[str] = "",
    keep: str | Sequence[str] = "",
    features: str | Sequence[str] = "",
    payoff: str = "",
    delimiter: DelimiterName = "auto",
    header: Header = "auto",
    horizon: int = 0,
    name: str = "",
) -> Table:
    """A problem made of a file (its path), a DataFrame, a 2-D array (a sparse one too), or arrays by name.

    `label` is a column by name or position, or an array of classes; `rewards` is a list of columns, a pattern such as
    `reward_*`, or an array with a column per action; `reward_matrix` a file, an array or a DataFrame with a row per
    class and a column per action; `costs` what a mistake costs for rows of a class. Columns may be named by a list.
    `features` names columns with features of each action by what they share: `price` of price.a and price.b; `payoff`
    those that say what the right action pays, instead of 1.
    `name` is what it is called in tables, instead of the file's name.
    """
    from showdown.data.in_memory import as_frame
    from showdown.data.read_table import read_table

    fields: dict[str, Any] = {
        "costs": "+".join(f"{name}:{cost}" for name, cost in costs.items()) if isinstance(costs, Mapping) else costs,
        "ignore": plus_joined(ignore),
        "categorical": plus_joined(categorical),
        "keep": plus_joined(keep),
        "features": plus_joined(features),
        "payoff": payoff,
        "horizon": horizon,
        "name": name,
    }
    if isinstance(data, str | os.PathLike):
        if not all(isinstance(item, str | int) for item in (label, *_listed(rewards))):
            raise UsageError("name the label or the reward columns of a file; arrays go with a table in memory")
        if not isinstance(reward_matrix, str | os.PathLike):
            raise UsageError("the reward matrix of a file must be a file too")
        fields |= {"path": str(data), "reward_matrix": str(reward_matrix), "delimiter": delimiter, "header": header}
        return Table(**fields, label=str(label), rewards=plus_joined(_listed(rewards))).resolve()
    frame = as_frame(data)
    if not isinstance(label, str | int):
        frame, label = _with_columns(frame, "label", label)
    if not all(isinstance(item, str | int) for item in _listed(rewards)):
        frame, rewards = _with_columns(frame, "reward", rewards)
    asked = Table(**fields, label=str(label), rewards=plus_joined(_listed(rewards)))
    if isinstance(reward_matrix, str | os.PathLike):
        matrix = read_table(reward_matrix).table if str(reward_matrix) else None
    else:
        matrix = as_frame(reward_matrix)
    found = _playable(frame, reward_matrix=matrix, **{name: getattr(asked, name) for name in _OPTIONS})
    _in_memory[found.digest] = found
    return _filled(asked, found)


def _received(fields: dict[str, Any], held: BanditTable | None) -> Table:
    if held is not None:
        _in_memory[held.digest] = held
    return Table(**fields)


def _filled(asked: Table, found: BanditTable) -> Table:
    check_horizon(asked.horizon, found.rows)
    return dataclasses.replace(asked, digest=found.digest, horizon=asked.horizon or found.rows)


def _playable(frame: pd.DataFrame, **options: Any) -> BanditTable:
    from showdown.data.bandit_table import as_bandit_table
    from showdown.data.choose_columns import log_played_as_labels, possible_labels

    if not options["rewards"]:
        log = log_played_as_labels(frame, options["label"], options["ignore"], options["keep"])
        if log:
            raise UsageError(
                "this looks like a log of decisions, which knows the reward of the action taken and not which was "
                f"right: showdown evaluate FILE {log.options()} (if it is none, say keep={log.propensity})"
            )
    if not options["label"] and not options["rewards"]:
        likely = [repr(name) for name in list(possible_labels(frame))[:3]]
        hint = f" (it could be {' or '.join(likely)})" if likely else ""
        raise UsageError(f"say which column is the label{hint}, or which columns hold the rewards of the actions")
    return as_bandit_table(frame, **options)


@lru_cache(maxsize=8)
def _read_bandit_table(
    path: tuple[str, ...], matrix: tuple[str, ...], delimiter: DelimiterName, header: Header, options: tuple[str, ...]
) -> BanditTable:
    """Paths come with a stamp of the file, so that a changed one is read again."""
    from showdown.data.read_table import read_table

    return _playable(
        read_table(path[0], delimiter, header).table,
        reward_matrix=read_table(matrix[0]).table if matrix else None,
        **dict(zip(_OPTIONS, options, strict=True)),
    )


def _stamped(path: str) -> tuple[str, ...]:
    if not path:
        return ()
    place = Path(path).expanduser().absolute()
    state = place.stat() if place.exists() else None
    return (str(place), f"{state.st_mtime_ns} {state.st_size}" if state else "")


def _with_columns(frame: pd.DataFrame, name: str, values: Any) -> tuple[pd.DataFrame, str]:
    """The table with an array added to it, and what the new columns are called."""
    from showdown.data.in_memory import as_frame

    added = as_frame({name: values})
    if len(added) != len(frame):
        raise UsageError(f"the table has {len(frame)} rows and its {name} array {len(added)}")
    clash = set(added.columns) & set(frame.columns)
    if clash:
        raise UsageError(f"the table has a column {min(clash)!r} already; name it, or call it something else")
    return frame.assign(**{column: added[column] for column in added.columns}), plus_joined(added.columns)


def _listed(names: Any) -> list[Any]:
    return [names] if isinstance(names, str) or hasattr(names, "toarray") else list(names)  # or a sparse matrix


problems.add("table", Table())
