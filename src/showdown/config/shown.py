"""How a configuration prints: by its preset and what differs from that, `LinFullPost[prior_precision=2.0]`.

That is also the name that plays it. A configuration that no preset is near to prints as its class with the fields that
differ from the class's own defaults.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from showdown.config.kinds import is_config
from showdown.config.nested import layers, nested_in
from showdown.config.registry import registries

LONGEST = 300  # characters of what is printed


def shown(value: Any) -> str:
    """The shortest name that says what this configuration is."""
    try:
        return _by_preset(value) or _by_class(value)
    except Exception:  # tracers and other values that JAX puts into fields cannot be compared
        return f"{type(value).__name__}(…)"


def _by_preset(value: Any) -> str:
    """The preset that equals it, or that differs in the fewest fields; empty where none is built alike."""
    found = []
    for registry in registries.values():
        for entry in registry.listed():
            changes = _changes(entry.value, value)
            if changes is not None:
                # of equal presets the most particular, as `Registry.name_of`; of those that are near the plainest
                found.append(((len(changes), (entry.base is None) != bool(changes)), entry.name, changes))
    if not found:
        return ""
    _, name, changes = min(found, key=lambda each: each[0])
    inside = ",".join(f"{_short(path, value)}={_text(item)}" for path, item in changes.items())
    return f"{name}[{inside}]"[:LONGEST] if changes else name


def _short(path: str, value: Any) -> str:
    """The path without `inner.` where an override finds the field without it."""
    for layer in layers(value)[:-1]:
        rest = path.removeprefix("inner.")
        if rest == path or hasattr(layer, rest.partition(".")[0]):
            break
        path = rest
    return path


def _changes(base: Any, value: Any, prefix: str = "") -> dict[str, Any] | None:
    """The fields of `value` that differ from those of `base`, by path; None where the two are not built alike."""
    if type(base) is not type(value):
        return None
    found: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        old, new = getattr(base, field.name), getattr(value, field.name)
        ones, others = dict(nested_in(field.name, old)), dict(nested_in(field.name, new))
        if ones.keys() != others.keys():
            return None
        for path in ones:
            inside = _changes(ones[path], others[path], f"{prefix}{path}.")
            if inside is None:
                return None
            found |= inside
        if not ones and old != new:
            found[prefix + field.name] = new
    return found


def _by_class(value: Any) -> str:
    parts = []
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if not _is_default(field, item):
            parts.append(f"{field.name}={_text(item)}")
    return f"{type(value).__name__}({', '.join(parts)})"[:LONGEST]


def _is_default(field: Any, item: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(field.default == item)
    return field.default_factory is not dataclasses.MISSING and bool(field.default_factory() == item)


def _text(item: Any) -> str:
    if is_config(item):
        return shown(item)
    if isinstance(item, tuple):
        return f"({','.join(map(_text, item))})"
    return f"{item:g}" if isinstance(item, float) and float(f"{item:g}") == item else str(item)
