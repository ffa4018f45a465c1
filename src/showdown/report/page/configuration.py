"""A stored configuration as rows to read: layer by layer, each field with its explanation where its class is known."""

from __future__ import annotations

import re
from typing import Any

from showdown.basics.errors import UsageError
from showdown.config import from_json, parameters


def rows(stored: dict[str, Any]) -> list[dict[str, Any]]:
    """of (the layer's class), field and value of every field, outermost layer first."""
    own = [
        {"of": stored.get("kind", ""), "field": name, "value": _text(item)}
        for name, item in stored.items()
        if name not in ("kind", "numerics", "source") and not _nested(item)
    ]
    return own + [row for item in stored.values() for inner in _nested(item) for row in rows(inner)]


def family(stored: dict[str, Any]) -> str:
    """The innermost class in words: `Linear known noise`."""
    inner = _nested(stored.get("inner"))
    if inner:
        return family(inner[0])
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", stored.get("kind", "")) or ["unknown"]
    return " ".join([words[0], *(word if word.isupper() else word.lower() for word in words[1:])])


def comments(stored: dict[str, Any]) -> dict[str, str]:
    """`Class.field` to the field's explanation; nothing where the class or one of its fields is not known any more."""
    try:
        value = from_json(stored)
    except UsageError:  # a plug-in that is not loaded, or fields of another version
        return {}
    return {f"{each.of}.{each.field}": each.explanation for each in parameters(value)}


def _nested(item: Any) -> list[dict[str, Any]]:
    """The configurations that a field holds: itself, or the members of a list."""
    members = item if isinstance(item, list) else [item]
    return [member for member in members if isinstance(member, dict) and "kind" in member]


def _text(item: Any) -> str:
    if isinstance(item, list):
        return f"({', '.join(map(_text, item))})"
    if item is None or isinstance(item, bool):
        return str(item).lower()
    return str(item)
