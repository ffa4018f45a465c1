"""Walking a configuration and all that are nested in it: every field with what is known about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from showdown.basics.errors import UsageError
from showdown.config.hints import hints_of, literals, options
from showdown.config.kinds import is_config
from showdown.config.params import param_of
from showdown.config.ranges import Range, choices

T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """One field of a configuration, or of one nested in it."""

    path: str  # from the outermost configuration, as an override spells it: `inner.prior_precision`
    field: str
    of: str  # the class whose field it is
    value: Any
    explanation: str
    search: Range | None  # where to search for a good value, if that makes sense


def parameters(value: Any, prefix: str = "") -> list[Parameter]:
    """Every field that is not itself a configuration, outermost layer first."""
    own, nested = [], []
    hints = hints_of(type(value))
    for field in dataclasses.fields(value):
        inside = list(nested_in(field.name, getattr(value, field.name)))
        nested += [row for path, member in inside for row in parameters(member, f"{prefix}{path}.")]
        if not inside:
            about = param_of(field)
            numbers_depend = field.metadata.get("identity", True)  # else there is nothing to search for
            search = about.search or (_choices(hints[field.name]) if numbers_depend else None)
            item = getattr(value, field.name)
            path = prefix + field.name
            own.append(Parameter(path, field.name, type(value).__name__, item, about.explanation, search))
    return own + nested


def nested_in(name: str, item: Any) -> Iterator[tuple[str, Any]]:
    """The path and value of each configuration that a field holds: itself, or the members of a tuple."""
    if is_config(item):
        yield name, item
    elif isinstance(item, tuple):
        yield from ((f"{name}.{place}", member) for place, member in enumerate(item) if is_config(member))


def _choices(hint: Any) -> Range | None:
    if options(hint) == (bool,):
        return choices(False, True)
    allowed = literals(hint)
    return choices(*allowed) if allowed else None


def all_fields(value: Any) -> dict[str, Any]:
    """Every field by name, nested configurations flattened.

    In a clash the outer one wins, and among the members of a tuple the first.
    """
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        inside = [member for _, member in nested_in(field.name, item)]
        for member in inside:
            flat = {**all_fields(member), **flat}
        if not inside:
            flat[field.name] = item
    return flat


def layers(value: Any) -> list[Any]:
    """A policy and what it wraps, outermost first."""
    return [value, *layers(value.inner)] if hasattr(value, "inner") else [value]


def core(value: Any) -> Any:
    """The policy inside its wrappers."""
    return layers(value)[-1]


def shrunk(value: T) -> T:
    """The configuration with every field that has a `small` value at that value, or as it is where checks refuse that.

    An empty tuple stays empty: without hidden layers a network is a linear model.
    """
    smaller = _shrunk(value)
    try:
        smaller.check()
    except UsageError:
        return value
    return smaller


def _shrunk(value: Any) -> Any:
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        item, small = getattr(value, field.name), param_of(field).small
        if is_config(item):
            changes[field.name] = _shrunk(item)
        elif isinstance(item, tuple) and any(map(is_config, item)):
            changes[field.name] = tuple(_shrunk(member) if is_config(member) else member for member in item)
        elif small is not None and item != ():
            changes[field.name] = small
    return dataclasses.replace(value, **changes)
