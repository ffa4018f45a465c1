"""One line about a preset, for `showdown list`, `showdown show` and the page."""

from __future__ import annotations

import inspect
import sys
from typing import Any


def summary(registry: Any, entry: Any) -> str:
    """One line: what sets a preset apart from its base, or else the class's own sentence."""
    from showdown.config import all_fields, core, layers

    if entry.base:
        base = registry.entry(entry.base).value
        old, wrapped = all_fields(base), {type(layer) for layer in layers(base)}
        changed = {name: item for name, item in all_fields(entry.value).items() if old.get(name) != item}
        changes = [f"{name}={item}" for name, item in changed.items()]
        added = [type(layer).__name__ for layer in layers(entry.value) if type(layer) not in wrapped]
        parts = [f"with {', '.join(changes)}" if changes else "", f"wrapped in {', '.join(added)}" if added else ""]
        return f"{entry.base} {', '.join(filter(None, parts))}" if changes or added else f"the same as {entry.base}"
    outer = [type(layer).__name__ for layer in layers(entry.value)[:-1] if type(layer).__name__ != "WarmUp"]
    about = sentence(type(core(entry.value)))
    return f"{about} Wrapped in {', '.join(outer)}." if outer else about  # nearly all are wrapped in WarmUp


def sentence(kind: type) -> str:
    """What a class says of itself in one sentence; where it says nothing, what its module says."""
    own = kind.__dict__.get("__doc__") or ""
    generated = f"{kind.__name__}("  # what dataclass writes where the author wrote nothing
    text = own if own and not own.startswith(generated) else (sys.modules[kind.__module__].__doc__ or "")
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
