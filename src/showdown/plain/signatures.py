"""What a function of the user's takes, by the names of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def taken(function: Callable[..., Any], names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that the function takes, as parameters of these names or by `**`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C
        return ()
    everything = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
    known = {each.name for each in parameters}
    return tuple(name for name in names if everything or name in known)


def needed(function: Callable[..., Any], *, besides: tuple[str, ...] = ()) -> int:
    """How many arguments it must be given, besides some that are known by their names."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    many = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    must = [each.name for each in parameters if each.default is inspect.Parameter.empty and each.kind not in many]
    return sum(name not in besides for name in must)
