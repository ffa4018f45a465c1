"""The one place where what a caller hands in becomes policies and problems, each with what it is called.

A policy is a name (`LinFullPost`, `RMS[learning_rate=0.1]`, `Lin*`), a value, or an object of the caller's own
(`showdown.plain`). A problem may also be data: a DataFrame, arrays, a pair of contexts and labels, the path of a file.
Several are a text with commas, a list, a tuple, a set, or a mapping that says what each is called.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from showdown.basics.errors import UsageError
from showdown.basics.text import check_name
from showdown.bench.plan import resolved
from showdown.config import is_config, override
from showdown.config.registry import Registry, split_outside_brackets
from showdown.config.shown import shown
from showdown.policies import policies as known_policies
from showdown.problems import problems as known_problems
from showdown.problems.own_table import Table, table
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem

T = TypeVar("T")

IN_MEMORY = "data"  # what a table is called that is no file and was given no name


def policy(given: Any, **fields: Any) -> Policy:
    """A policy from a name, a value or an object of your own; `fields` replace fields: `policy("RMS", width=50)`."""
    return _one(policies_of(given), "policy", fields)


def problem(given: Any, *, horizon: int | None = None, **options: Any) -> Problem:
    """A problem from a name, a value, data or an object of your own.

    For data, `options` are those of `showdown.problems.table`: label, rewards, ignore and so on. For a name they
    replace fields: `problem("wheel", delta=0.9)`.
    """
    if isinstance(given, str | Problem) and not is_file(given):
        found = _one(problems_of(given), "problem", options)
    else:
        found = _one(problems_of(given, options), "problem", {})
    return found if horizon is None else found.with_horizon(horizon)


def policies_of(given: Any) -> dict[str, Policy]:
    """Policies by what they are called."""
    return _named(given, known_policies, _own_policy, is_config)


def problems_of(given: Any, options: Mapping[str, Any] | None = None) -> dict[str, Problem]:
    """Problems by what they are called. `options` say how data is read; they are refused where nothing is data."""
    options = {name: value for name, value in (options or {}).items() if not _is_default(name, value)}
    read: list[Table] = []

    def own(value: Any) -> Problem:
        if not is_data(value):
            return _own_problem(value)
        read.append(_table(value, options))
        return read[-1]

    found = _named(given, known_problems, own, lambda value: is_config(value) or is_data(value))
    if options and not read:
        raise UsageError(f"{next(iter(options))}= says how a table is read, and no problem here is one")
    return found


def is_file(value: Any) -> bool:
    """Whether it is the path of a file: a `Path`, or a text that is no name of a problem and looks like one."""
    if isinstance(value, os.PathLike):
        return True
    if not isinstance(value, str) or "[" in value or value.partition("/")[0] in known_problems:
        return False
    return Path(value).expanduser().is_file() or bool(Path(value).suffix[1:2].isalpha() and "," not in value)


def is_data(value: Any) -> bool:
    """Whether it is a table: a DataFrame of pandas or polars, an array, a sparse matrix, a path, or such a pair."""
    if isinstance(value, tuple) and len(value) == 2:
        contexts, labels = value
        return _in_memory(contexts) and not isinstance(labels, str | os.PathLike) and _is_column(labels)
    return is_file(value) or _in_memory(value)


def _in_memory(value: Any) -> bool:
    return any(hasattr(value, name) for name in ("to_numpy", "to_pandas", "toarray", "__array_interface__"))


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not hasattr(value, "columns") and getattr(value, "ndim", 1) == 1


def _table(value: Any, options: Mapping[str, Any]) -> Table:
    if isinstance(value, tuple):  # contexts and labels, as scikit-learn has them
        contexts, label = value
        if "label" in options:
            raise UsageError("a pair is contexts and labels: leave label= out")
        return table(contexts, label=label, **{"name": IN_MEMORY, **options})
    return table(value, **options) if is_file(value) else table(value, **{"name": IN_MEMORY, **options})


def _named(given: Any, registry: Registry[T], own: Callable[[Any], T], is_one: Callable[[Any], bool]) -> dict[str, T]:
    """What was given, by name: names of the registry as they are, values by what they print as."""
    if isinstance(given, str) and not is_one(given):
        return resolved(registry, tuple(split_outside_brackets(given)))
    if is_one(given) or not isinstance(given, Iterable):
        value = _value(given, registry, own)
        return {_called(value, registry): value}
    found: dict[str, T] = {}
    if isinstance(given, Mapping):
        for name, one in given.items():
            check_name(f"the name of a {registry.noun}", str(name))
            several = _named(one, registry, own, is_one)
            if len(several) != 1:
                raise UsageError(f"{name!r} names one {registry.noun}, and {len(several)} were given for it")
            found[str(name)] = _renamed(next(iter(several.values())), str(name))
        return found
    for one in given:
        for name, value in _named(one, registry, own, is_one).items():
            if name in found and found[name] != value:
                raise UsageError(f"two {registry.noun} values are called {name!r}: give a mapping of names to them")
            found[name] = value
    return found


def _value(given: Any, registry: Registry[T], own: Callable[[Any], T]) -> T:
    return given if is_config(given) else own(given)


def _called(value: Any, registry: Registry[Any]) -> str:
    """What a value is called in tables: its preset, its file, or what it prints as."""
    if isinstance(value, Table):
        return value.called
    return getattr(value, "called", "") or registry.name_of(value) or shown(value)


def _renamed(value: Any, name: str) -> Any:
    """A table knows what it is called; other values are called so by whoever plays them."""
    return dataclasses.replace(value, name=name) if isinstance(value, Table) else value


def _one(found: dict[str, T], noun: str, fields: Mapping[str, Any]) -> T:
    if len(found) != 1:
        raise UsageError(f"one {noun} is meant here, and these are {len(found)}: {', '.join(found) or 'none'}")
    ((name, value),) = found.items()
    if not fields:
        return value
    changed: Any = override(value, dict(fields), name)
    changed = changed.resolve()
    changed.check()
    return changed


def _is_default(name: str, value: Any) -> bool:
    return isinstance(value, str) and value == ("auto" if name in ("delimiter", "header") else "")


def _own_policy(value: Any) -> Policy:
    raise UsageError(f"{_kind(value)} is no policy: give a name of one, such as 'LinFullPost', or a policy's value")


def _own_problem(value: Any) -> Problem:
    raise UsageError(f"{_kind(value)} is no problem: give a name of one, such as 'wheel-0.9', a DataFrame or a file")


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
