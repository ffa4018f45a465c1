"""A stored configuration as rows to be read: layer by layer, each field with its comment where the code is at hand."""

from __future__ import annotations

import re
from typing import Any

from showdown.config import field_comments, from_json, is_config
from showdown.errors import UsageError


def rows(stored: dict[str, Any]) -> list[dict[str, Any]]:
    """of (the layer's class), field and value of every field, outermost layer first."""
    own = [
        {"of": stored.get("kind", ""), "field": name, "value": _text(item)}
        for name, item in stored.items()
        if name not in ("kind", "numerics") and not _nested(item)
    ]
    return own + [row for item in stored.values() if _nested(item) for row in rows(item)]


def family(stored: dict[str, Any]) -> str:
    """The innermost class in words: `Linear known noise`."""
    inner = [item for item in stored.values() if _nested(item)]
    if inner:
        return family(inner[0])
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", stored.get("kind", "")) or ["unknown"]
    return " ".join([words[0], *(word if word.isupper() else word.lower() for word in words[1:])])


def comments(stored: dict[str, Any]) -> dict[str, str]:
    """`Class.field` to the comment on that field's line; nothing where the class is not known here any more."""
    try:
        value = from_json(stored)
    except (UsageError, TypeError):  # a plug-in that is not loaded, or fields of another version
        return {}
    told: dict[str, str] = {}
    layers = [value]
    while layers:
        layer = layers.pop()
        kind = type(layer)
        for name, comment in field_comments(kind).items():
            told[f"{kind.__name__}.{name}"] = comment
            if is_config(getattr(layer, name)):
                layers.append(getattr(layer, name))
    return told


def _nested(item: Any) -> bool:
    return isinstance(item, dict) and "kind" in item


def _text(item: Any) -> str:
    if isinstance(item, list):
        return f"({', '.join(map(_text, item))})"
    if item is None or isinstance(item, bool):
        return str(item).lower()
    return str(item)
