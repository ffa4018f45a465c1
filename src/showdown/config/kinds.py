"""`@config`: makes a class a frozen dataclass and a PyTree, and remembers it by name for reading JSON.

What a field is follows from its type hint: its alternatives, and what a tuple holds.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar, dataclass_transform

import jax

from showdown.basics.errors import UsageError
from showdown.config import float32


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


T = TypeVar("T")

RESERVED = ("kind", "numerics", "source")  # what JSON says about a configuration besides its fields
_MARK = "__showdown_config__"  # set by the decorator, so that an undecorated subclass is not taken for a configuration

kinds: dict[str, type] = {}  # class name -> class, for reading JSON back


@dataclass_transform(frozen_default=True, kw_only_default=True)
def config(cls: type[T]) -> type[T]:
    """Make `cls` a frozen, keyword-only dataclass, a PyTree whose leaves are its floats, and readable from JSON.

    A field is data (its content leaves or a subtree) where its hint holds a float or a configuration, alone, in a union
    or in a tuple; any other field is static. A tuple is data or static as a whole.
    """
    _convert_on_construction(cls)
    own_repr = "__repr__" in vars(cls)
    cls = dataclasses.dataclass(frozen=True, kw_only=True, repr=False)(cls)
    if not own_repr:
        cls.__repr__ = _repr  # type: ignore[method-assign]
    hints = hints_of(cls)
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    clash = [name for name in names if name in RESERVED]
    if clash:
        raise UsageError(f"{cls.__name__} may not have a field {clash[0]!r}: JSON uses that name for something else")
    data = [name for name in names if holds(hints[name], _is_data)]
    _register(cls, data, [name for name in names if name not in data])
    known = kinds.setdefault(cls.__name__, cls)
    if known is not cls and known.__module__ != cls.__module__:
        raise UsageError(f"two configurations are called {cls.__name__}: {known.__module__} and {cls.__module__}")
    kinds[cls.__name__] = cls
    setattr(cls, _MARK, True)
    return cls


def _repr(self: Any) -> str:
    from showdown.config.shown import shown  # which knows the presets, and so imports this module

    return shown(self)


def _register(cls: type, data: list[str], static: list[str]) -> None:
    """Make `cls` a PyTree node with these fields as children, and the others as part of its structure.

    Not by `register_dataclass`: the structures of two classes that it registered are equal where their fields are (seen
    in JAX 0.10.2), and `jit` then sometimes runs the program of one class for the other.
    """
    keys = [jax.tree_util.GetAttrKey(name) for name in data]

    def flatten(value: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(value, name) for name in data], tuple(getattr(value, name) for name in static)

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        children, structure = flatten(value)
        return list(zip(keys, children, strict=True)), structure

    def unflatten(structure: tuple[Any, ...], children: Iterable[Any]) -> Any:
        return cls(**dict(zip(static, structure, strict=True)), **dict(zip(data, children, strict=True)))

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)


def is_config(value: Any) -> bool:
    return _MARK in type(value).__dict__


def is_config_class(hint: Any) -> bool:
    """Whether values of this type are configurations: a decorated class, or an abstract `Configuration`."""
    return isinstance(hint, type) and (_MARK in hint.__dict__ or hasattr(hint, "numerics"))


def _is_data(hint: Any) -> bool:
    return hint is float or is_config_class(hint)


def _convert_on_construction(cls: type) -> None:
    """An int given to a float field becomes a float, or equal configurations would have different identities."""
    author: Callable[[Any], None] | None = getattr(cls, "__post_init__", None)

    def __post_init__(self: Any) -> None:
        hints = hints_of(type(self))
        for field in dataclasses.fields(self):
            item = getattr(self, field.name)
            converted = _converted(field.name, item, hints[field.name])
            if converted is not item:
                object.__setattr__(self, field.name, converted)
        if author is not None:
            author(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]


def _converted(name: str, item: Any, hint: Any) -> Any:
    """`item` with ints as floats where the hint wants those. Arrays, tracers and the like of JAX stay as they are."""
    if type(item) is int:
        allowed = options(hint)
        return float32.as_float(name, item) if float in allowed and int not in allowed else item
    if type(item) is not tuple:
        return item
    for option in filter(is_tuple, options(hint)):
        hints = member_hints(option, len(item))
        if hints is not None:
            members = tuple(_converted(name, member, inner) for member, inner in zip(item, hints, strict=True))
            changed = any(new is not old for new, old in zip(members, item, strict=True))
            return members if changed else item
    return item
