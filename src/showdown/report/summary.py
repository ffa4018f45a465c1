"""One line about a preset, for `showdown list`, `showdown show` and the page."""

from __future__ import annotations

import inspect
import sys
from typing import Any


def summary(registry: Any, entry: Any) -> str:
    """One line: what sets a preset apart from its base, or else the class's own sentence."""
    from showdown.config import all_fields, core

    if entry.base:
        old = all_fields(registry.entry(entry.base).value)
        changed = {name: item for name, item in all_fields(entry.value).items() if old.get(name) != item}
        changes = ", ".join(f"{name}={item}" for name, item in changed.items())
        return f"{entry.base} with {changes}" if changes else f"the same as {entry.base}"
    return sentence(type(core(entry.value)))


def sentence(kind: type) -> str:
    """What a class says of itself in one sentence; where it says nothing, what its module says."""
    own = kind.__dict__.get("__doc__") or ""
    generated = f"{kind.__name__}("  # what dataclass writes where the author wrote nothing
    text = own if own and not own.startswith(generated) else (sys.modules[kind.__module__].__doc__ or "")
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
