"""What the type hint of a field allows: its alternatives, what a tuple holds, and the hints of a class, read once."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any


def hints_of(cls: Any) -> dict[str, Any]:
    """The hint of every field of a class."""
    return _cached_hints(cls)  # mypy takes no class for hashable, hence two functions


@cache
def _cached_hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def options(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a union (`float | None`); any other hint is its own only alternative."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)


def is_tuple(option: Any) -> bool:
    return (typing.get_origin(option) or option) is tuple


def member_hints(option: Any, length: int) -> tuple[Any, ...] | None:
    """The hint of each member of a tuple of that length; None where the tuple may not have that length."""
    inner = typing.get_args(option)
    if not inner:  # a bare `tuple`
        return (Any,) * length
    if len(inner) == 2 and inner[1] is Ellipsis:
        return (inner[0],) * length
    return inner if len(inner) == length else None


def holds(hint: Any, wanted: Callable[[Any], bool]) -> bool:
    """Whether an alternative of `hint`, or a member of a tuple among them, is `wanted`."""
    return any(
        wanted(option) or (is_tuple(option) and any(holds(inner, wanted) for inner in typing.get_args(option)))
        for option in options(hint)
    )


def literals(hint: Any) -> tuple[Any, ...]:
    """The values that a `Literal` among the alternatives names."""
    return tuple(
        value
        for option in options(hint)
        if typing.get_origin(option) is typing.Literal
        for value in typing.get_args(option)
    )
