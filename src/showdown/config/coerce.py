"""Turning text or a number into the type of a field, or saying in one sentence why that cannot be."""

from __future__ import annotations

import ast
import typing
from typing import Any

from showdown.basics.errors import UsageError
from showdown.basics.text import LONGEST_SPELLING, check_name
from showdown.config import float32
from showdown.config.kinds import is_config, is_config_class, is_tuple, literals, member_hints, options

_NO = object()
_WORDS = {"true": True, "false": False, "none": None}
_PLAIN = (float, int, bool, str, type(None), Any)


def coerce(name: str, item: Any, hint: Any) -> Any:
    """`item` as the hint wants it; text is read as Python would, unless the field itself holds text."""
    if isinstance(item, str) and str not in options(hint):
        try:
            item = ast.literal_eval(item)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            item = _WORDS.get(item.lower(), item)
    value = typed(name, item, hint)
    if isinstance(value, str):
        check_name(f"the value of {name}", value, LONGEST_SPELLING)
    return value


def typed(name: str, item: Any, hint: Any) -> Any:
    """`item` as the hint wants it: an int may become a float and a list a tuple, nothing else changes."""
    allowed = options(hint)
    for option in allowed:
        taken = _as(name, item, option, allowed)
        if taken is not _NO:
            return taken
    named = literals(hint)
    wanted = f"one of {', '.join(map(str, named))}" if named else getattr(hint, "__name__", str(hint))
    raise UsageError(f"{name} must be {wanted}, not {float32.shown(item)}")


def is_known(hint: Any) -> bool:
    """Whether values of this hint can be told from others: plain values, literals, configurations, tuples of these."""
    return all(
        option in _PLAIN
        or option is Ellipsis
        or typing.get_origin(option) is typing.Literal
        or is_config_class(option)
        or (is_tuple(option) and all(map(is_known, typing.get_args(option))))
        for option in options(hint)
    )


def _as(name: str, item: Any, option: Any, allowed: tuple[Any, ...]) -> Any:
    """`item` as one alternative of a hint wants it, or _NO."""
    if option is Any:
        return item
    if typing.get_origin(option) is typing.Literal:
        return item if item in typing.get_args(option) else _NO
    if isinstance(item, bool) or item is None:
        return item if option is type(item) else _NO
    if option is float and isinstance(item, int | float) and not (isinstance(item, int) and int in allowed):
        return float32.as_float(name, item)
    if option is int and isinstance(item, int):
        return float32.as_count(name, item)
    if is_tuple(option) and isinstance(item, tuple | list):
        hints = member_hints(option, len(item))
        if hints is None:
            return _NO
        return tuple(typed(name, member, inner) for member, inner in zip(item, hints, strict=True))
    if option is str and isinstance(item, str):
        return item
    return item if is_config(item) and is_config_class(option) and isinstance(item, option) else _NO
