"""The one place where what a caller hands in becomes policies and problems, each with what it is called.

A policy is a name (`LinFullPost`, `RMS[learning_rate=0.1]`, `Lin*`), a value, or an object of the caller's own
(`showdown.plain`). A problem may also be data: a DataFrame, arrays, a pair of contexts and labels, the path of a file.
Several are a text with commas, a list, a tuple, a set, an iterator, or a mapping that says what each is called.
"""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from showdown.basics.errors import UsageError
from showdown.basics.text import check_name, near
from showdown.bench.plan import resolved
from showdown.config import override
from showdown.config.registry import Registry, split_outside_brackets
from showdown.plain import as_policy, as_problem
from showdown.policies import policies as known_policies
from showdown.problems import problems as known_problems
from showdown.problems.own_table import Table, TableOptions, table
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem

T = TypeVar("T")

IN_MEMORY = "data"  # what a table is called that is no file and was given no name


def policy(given: Any, **options: Any) -> Policy:
    """A policy from a name, a value or an object of your own.

    For a name or a value `options` replace fields: `policy("RMS", learning_rate=0.1)`. For an object of your own, such
    as a scikit-learn model, they are those of `showdown.plain.as_policy`: explore, refit_every, members, epsilon.
    A text that begins with `-` holds options of Vowpal Wabbit.
    """
    if isinstance(given, Policy) or (isinstance(given, str) and not given.startswith("-")):
        return _changed(policies_of(given), "policy", options)
    return as_policy(given, **options)


def problem(given: Any, *, horizon: int | None = None, **options: Any) -> Problem:
    """A problem from a name, a value, data or an object of your own.

    For data, `options` are those of `showdown.problems.table`: label, rewards, ignore and so on. For a name or a value
    they replace fields: `problem("wheel", delta=0.9)`.
    """
    if isinstance(given, str | Problem) and not is_file(given):
        found = _changed(problems_of(given), "problem", options)
    else:
        found = _changed(problems_of(given, options), "problem", {})
    if horizon is not None and whole("horizon", horizon) < 1:
        raise UsageError(f"horizon must be at least 1, not {horizon}")
    return found if horizon is None else found.with_horizon(whole("horizon", horizon))


def policies_of(given: Any) -> dict[str, Policy]:
    """Policies by what they are called."""
    return _by_name([(name, as_policy(value)) for name, value in _each(given, known_policies)], known_policies)


def problems_of(given: Any, options: Mapping[str, Any] | None = None) -> dict[str, Problem]:
    """Problems by what they are called. `options` say how data is read; they are refused where nothing is data."""
    options = said(options or {})
    found: list[tuple[str, Problem]] = []
    for name, value in _each(given, known_problems, is_data):
        if is_data(value):
            found.append((name, _table(value, {**options, **({"name": name} if name else {})})))
        elif isinstance(value, Real):
            raise UsageError(f"{value!r} is no problem: data is a DataFrame, an array or a pair of arrays, and no list")
        else:
            found.append((name, as_problem(value)))
    if options and not any(isinstance(value, Table) for _, value in found):
        raise UsageError(f"{next(iter(options))}= says how a table is read, and no problem here is one")
    return _by_name(found, known_problems)


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


def own_table(value: Any, **options: Any) -> Table:
    """The problem that data makes; options that are not said may be given as their defaults."""
    return _table(value, said(options))


def said(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that are not as if they were left out."""
    return {name: value for name, value in options.items() if not _is_default(name, value)}


def check_options(called: str, call: Callable[..., Any], options: Iterable[str]) -> None:
    """Raise UsageError where one of the options is none of the call's own, and none that says how a table is read."""
    own = inspect.signature(call).parameters.values()
    known = [*(one.name for one in own if one.kind is not one.VAR_KEYWORD), *TableOptions.__annotations__]
    for name in options:
        if name not in known:
            raise UsageError(f"{called} has no option {name!r}{near(name, known)}")


def whole(name: str, given: Any) -> int:
    """A whole number as Python's own; one of NumPy is one too."""
    try:
        return operator.index(given)
    except TypeError:
        raise UsageError(f"{name} must be a whole number, not {given!r}") from None


def whole_or_none(**given: Any) -> tuple[int | None, ...]:
    """Each of these as a whole number where it is given, in this order."""
    return tuple(None if value is None else whole(name, value) for name, value in given.items())


def _table(value: Any, options: Mapping[str, Any]) -> Table:
    check_options("a table", table, options)
    if isinstance(value, tuple):  # contexts and labels, as scikit-learn has them
        contexts, label = value
        if "label" in options:
            raise UsageError("a pair is contexts and labels: leave label= out")
        return table(contexts, label=label, **{"name": IN_MEMORY, **options})
    return table(value, **options) if is_file(value) else table(value, **{"name": IN_MEMORY, **options})


def _each(
    given: Any, registry: Registry[T], is_one: Callable[[Any], bool] = lambda value: False
) -> Iterator[tuple[str, Any]]:
    """Everything that was given, each with the name that it was given by; empty where it was not named."""
    if isinstance(given, str) and not is_one(given):
        yield from resolved(registry, tuple(split_outside_brackets(given))).items()
    elif isinstance(given, Mapping):
        for name, one in given.items():
            check_name(f"the name of a {registry.noun}", str(name))
            several = list(_each(one, registry, is_one))
            if len(several) != 1:
                raise UsageError(f"{name!r} names one {registry.noun}, and {len(several)} were given for it")
            yield str(name), several[0][1]
    elif isinstance(given, list | tuple | set | frozenset | Iterator) and not is_one(given):
        for one in given:
            yield from _each(one, registry, is_one)
    else:
        yield "", given


def _by_name(found: list[tuple[str, T]], registry: Registry[T]) -> dict[str, T]:
    """Values by name; one without a name is called by what it is, and by how it is set where that names two."""
    short = [name or _called(value, registry) for name, value in found]
    named: dict[str, T] = {}
    for (_, value), name in zip(found, short, strict=True):
        others = [other for (_, other), same in zip(found, short, strict=True) if same == name and other != value]
        spelled = repr(value) if others and not isinstance(value, Table) else name
        if spelled in named and named[spelled] != value:
            raise UsageError(f"two {registry.noun} values are called {spelled!r}: give a mapping of names to them")
        named[spelled] = value
    return named


def _called(value: Any, registry: Registry[Any]) -> str:
    """What a value is called in tables: its preset, its file or its class, or what it prints as."""
    return getattr(value, "called", "") or registry.name_of(value) or repr(value)


def _changed(found: dict[str, Any], noun: str, fields: Mapping[str, Any]) -> Any:
    """The one value that was found, with fields replaced."""
    if len(found) != 1:
        raise UsageError(f"one {noun} is meant here, and these are {len(found)}: {', '.join(found) or 'none'}")
    ((name, value),) = found.items()
    if not fields:
        return value
    changed = override(value, dict(fields), name).resolve()
    changed.check()
    return changed


def _is_default(name: str, value: Any) -> bool:
    return isinstance(value, str) and value == ("auto" if name in ("delimiter", "header") else "")
