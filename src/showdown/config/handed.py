"""An object of the user's as the value of a field: equal to another by its fingerprint, and sent to other processes.

It is not written to JSON. A class that lives in a notebook or was typed at a prompt cannot be imported by another
process; cloudpickle, where it is installed, sends its code along.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from showdown.basics.errors import UsageError
from showdown.config.fingerprint import fingerprint

LONGEST_SETTINGS = 200  # characters that say how an object is set


class Handed:
    """An object and its fingerprint."""

    def __init__(self, value: Any) -> None:
        self.value, self.code = value, fingerprint(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handed) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    def __repr__(self) -> str:
        return f"<{type(self.value).__name__} {self.code}>"

    def __getstate__(self) -> tuple[bytes, str]:
        return pickled(self.value), self.code

    def __setstate__(self, state: tuple[bytes, str]) -> None:
        self.value, self.code = pickle.loads(state[0]), state[1]


_handed_in: dict[str, Handed] = {}


def known(code: str, given: Any) -> Any:
    """What was handed in, kept; where nothing was, what was handed in before under the same fingerprint."""
    if not code:
        return given
    if isinstance(given, Handed):
        _handed_in.setdefault(code, given)
        return given
    return _handed_in.get(code)


def pickled(value: Any) -> bytes:
    """The object as bytes that `pickle.loads` reads in another process; one sentence where that cannot be."""
    by_name = not _is_notebook()
    try:
        if by_name:
            return pickle.dumps(value)
    except (AttributeError, TypeError, pickle.PicklingError):
        pass  # a lambda, or a class inside of a function
    try:
        import cloudpickle
    except ImportError:
        if not by_name:
            why = "what is defined in a notebook cannot be imported by it"
        else:
            why = "pickle refuses it"
        raise UsageError(
            f"{describe(value)} cannot be handed to another process ({why}): pip install cloudpickle, or define it at "
            "the top of a file and import that"
        ) from None
    try:
        return cloudpickle.dumps(value)
    except Exception as error:
        raise UsageError(f"{describe(value)} cannot be handed to another process: {error}") from None


def _is_notebook() -> bool:
    """Whether what is defined in the main program has no file that another process could run."""
    return getattr(sys.modules.get("__main__"), "__file__", None) is None


def describe(value: Any) -> str:
    """What an object is called in a message."""
    return getattr(value, "__name__", None) or type(value).__name__


def qualified(value: Any) -> str:
    """The name under which an object, or its class, is defined."""
    named = value if hasattr(value, "__qualname__") else type(value)
    module = named.__module__ or ""
    return named.__qualname__ if module in ("__main__", "__mp_main__", "") else f"{module}.{named.__qualname__}"


def settings(value: Any) -> str:
    """How an object is set, for a reader: parameters that differ from their defaults, or plain attributes."""
    if callable(getattr(value, "get_params", None)):
        given = value.get_params(deep=False)
        try:
            defaults = type(value)().get_params(deep=False)
        except TypeError:
            defaults = {}
        given = {name: item for name, item in given.items() if name not in defaults or item is not defaults[name]}
        given = {name: item for name, item in given.items() if repr(item) != repr(defaults.get(name))}
    else:
        given = getattr(value, "__dict__", {}) if not hasattr(value, "__qualname__") else {}
    plain = {name: item for name, item in given.items() if isinstance(item, bool | int | float | str | tuple)}
    text = ", ".join(f"{name}={item!r}" for name, item in plain.items() if not name.startswith("_"))
    return text if len(text) <= LONGEST_SETTINGS else f"{text[: LONGEST_SETTINGS - 1]}…"
