"""Walking a configuration and all that are nested in it: every field by name, and replacing fields by name.

`LinPost[prior_precision=2]` replaces a field. A name is looked up in the configuration itself, then in nested ones. In
a tuple of configurations every member that has the field is set; `beliefs.0.prior_precision` sets it in the first
member alone. Such a path may begin at any level.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from showdown.basics.errors import UsageError
from showdown.basics.text import check_name
from showdown.config.coerce import coerce
from showdown.config.kinds import hints_of, is_config, is_tuple, literals, member_hints, options
from showdown.config.params import Range, choices, param_of


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


T = TypeVar("T")


def override(value: T, changes: dict[str, Any], called: str = "") -> T:
    """`value` with fields replaced by name. `called` is what the user calls the value."""
    for name, item in changes.items():
        check_name("the name of a field", name)
        changed = _changed(value, name.split("."), item)
        if changed is None:
            raise UsageError(f"{called or type(value).__name__} has no field {name!r}; {_hint(value, name)}")
        value = changed
    return value


def _hint(value: Any, name: str) -> str:
    known = sorted(all_fields(value))
    near = difflib.get_close_matches(name.rpartition(".")[2], known, n=1)
    return f"did you mean {near[0]!r}?" if near and near[0] != name else f"its fields are {', '.join(known) or 'none'}"


def _changed(value: Any, path: list[str], item: Any) -> Any:
    """`value` with the field at `path` replaced, its own or a nested one; None where there is none."""
    name, rest = path[0], path[1:]
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if name in fields:
        hint = hints_of(type(value))[name]
        changed = _changed_inside(name, fields[name], hint, rest, item) if rest else coerce(name, item, hint)
        return None if rest and changed is None else dataclasses.replace(value, **{name: changed})
    for nested, inner in fields.items():
        members = inner if isinstance(inner, tuple) else (inner,)
        changes = [_changed(member, path, item) if is_config(member) else None for member in members]
        if any(change is not None for change in changes):
            chosen = tuple(old if new is None else new for old, new in zip(members, changes, strict=True))
            return dataclasses.replace(value, **{nested: chosen if isinstance(inner, tuple) else chosen[0]})
    return None


def _changed_inside(name: str, inner: Any, hint: Any, path: list[str], item: Any) -> Any:
    """What a field holds, a configuration or a tuple, with the part at `path` replaced."""
    if is_config(inner):
        return _changed(inner, path, item)
    if not isinstance(inner, tuple):
        return None
    place, rest = path[0], path[1:]
    if not place.isdecimal() or int(place) >= len(inner):
        raise UsageError(f"{name} has {len(inner)} members, numbered from 0, and none is {place!r}")
    number = int(place)
    called = f"{name}.{place}"
    if rest:
        changed = _changed_inside(called, inner[number], Any, rest, item)
    else:
        hints = [member_hints(option, len(inner)) for option in options(hint) if is_tuple(option)]
        changed = coerce(called, item, next((each[number] for each in hints if each), Any))
    return None if rest and changed is None else (*inner[:number], changed, *inner[number + 1 :])


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
