"""Configurations: frozen dataclasses that are JAX PyTrees and survive a trip through JSON.

Float fields and nested configurations are PyTree leaves; everything else (counts, layer sizes, names) is static.
Two configurations that differ only in floats therefore share one compiled program.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import hashlib
import inspect
import io
import json
import math
import textwrap
import tokenize
import types
import typing
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

import jax

from showdown.errors import UsageError

T = TypeVar("T")

_KINDS: dict[str, type] = {}  # class name -> class, for reading JSON back


@dataclass_transform(frozen_default=True, kw_only_default=True)
def config(cls: type[T]) -> type[T]:
    """Make `cls` a frozen, keyword-only dataclass, a PyTree whose leaves are its floats, and readable from JSON."""
    cls = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    hints = typing.get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    leaves = [name for name in names if _is_leaf(hints[name])]
    jax.tree_util.register_dataclass(
        cls, data_fields=leaves, meta_fields=[name for name in names if name not in leaves]
    )
    known = _KINDS.setdefault(cls.__name__, cls)
    if known is not cls and known.__module__ != cls.__module__:
        raise UsageError(f"two configurations are called {cls.__name__}: {known.__module__} and {cls.__module__}")
    _KINDS[cls.__name__] = cls
    return cls


def _is_leaf(hint: Any) -> bool:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return any(option is float or (isinstance(option, type) and hasattr(option, "numerics")) for option in options)


def is_config(value: Any) -> bool:
    return type(value).__name__ in _KINDS and dataclasses.is_dataclass(value)


def to_json(value: Any, *, numerics: bool = False) -> dict[str, Any]:
    """A configuration as plain data.

    With `numerics`, only what its numbers depend on: each family's version stands beside it, and fields whose metadata
    says `identity: False` (where a file lies, how it is written) are left out.
    """
    data: dict[str, Any] = {"kind": type(value).__name__}
    if numerics:
        data["numerics"] = value.numerics
        if not type(value).__module__.startswith("showdown."):
            data["source"] = _source_hash(type(value))
    for field in dataclasses.fields(value):
        if numerics and not field.metadata.get("identity", True):
            continue
        item = getattr(value, field.name)
        if is_config(item):
            item = to_json(item, numerics=numerics)
        elif isinstance(item, tuple):
            item = list(item)
        data[field.name] = item
    return data


def _source_hash(cls: type) -> str:
    """Of the file an outside class stands in: its author edits it and should not be shown numbers of an older text."""
    try:
        source = Path(inspect.getsourcefile(cls) or "").read_bytes()
    except (OSError, TypeError):  # typed at a prompt
        return ""
    return hashlib.sha256(source).hexdigest()[:16]


def from_json(data: dict[str, Any]) -> Any:
    """The configuration that `to_json` wrote."""
    fields = {name: item for name, item in data.items() if name not in ("kind", "numerics")}
    kind = _KINDS.get(data.get("kind", ""))
    if kind is None:
        raise UsageError(f"no configuration is called {data.get('kind')!r}")
    for name, item in fields.items():
        if isinstance(item, dict) and "kind" in item:
            fields[name] = from_json(item)
        elif isinstance(item, list):
            fields[name] = tuple(item)
    return kind(**fields)


def canonical(data: Any) -> str:
    """One spelling for equal data, fit for hashing."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def override(value: T, changes: dict[str, Any], called: str = "") -> T:
    """`value` with fields replaced by name; a name is looked for here first, then in nested configurations.

    `called` is what the user calls the value.
    """
    for name, item in changes.items():
        value = _override_one(value, name, item, called or type(value).__name__)
    return value


def _override_one(value: Any, name: str, item: Any, called: str) -> Any:
    holder = _holder(value, name)
    if holder is None:
        known = sorted(all_fields(value))
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"its fields are {', '.join(known) or 'none'}"
        raise UsageError(f"{called} has no field {name!r}; {hint}")
    if holder != ():
        inner = getattr(value, holder[0])
        return dataclasses.replace(value, **{holder[0]: _override_one(inner, name, item, called)})
    hint = typing.get_type_hints(type(value))[name]
    return dataclasses.replace(value, **{name: _coerce(name, item, hint)})


def _holder(value: Any, name: str) -> tuple[str, ...] | None:
    """() when `value` has the field itself, (nested field,) when a nested configuration does, None when none does."""
    names = [field.name for field in dataclasses.fields(value)]
    if name in names:
        return ()
    for nested in names:
        item = getattr(value, nested)
        if is_config(item) and _holder(item, name) is not None:
            return (nested,)
    return None


def all_fields(value: Any) -> dict[str, Any]:
    """Every field by name, nested configurations flattened (the outer one wins a clash)."""
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if is_config(item):
            flat = {**all_fields(item), **flat}
        else:
            flat[field.name] = item
    return flat


def layers(value: Any) -> list[Any]:
    """A policy and what it wraps, outermost first."""
    return [value, *layers(value.inner)] if hasattr(value, "inner") else [value]


def core(value: Any) -> Any:
    """The policy inside its wrappers."""
    return layers(value)[-1]


def _coerce(name: str, item: Any, hint: Any) -> Any:
    """Turn text or a number into the field's type, or say in one sentence why not."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if isinstance(item, str) and str not in options:
        try:
            item = ast.literal_eval(item)
        except (ValueError, SyntaxError):
            item = {"true": True, "false": False, "none": None}.get(item.lower(), item)
    for option in options:
        origin = typing.get_origin(option)
        if origin is typing.Literal:
            if item in typing.get_args(option):
                return item
            allowed = ", ".join(map(str, typing.get_args(option)))
            raise UsageError(f"{name} must be one of {allowed}, not {item!r}")
        if option is type(None) and item is None:
            return None
        if option is bool and isinstance(item, bool):
            return item
        if option is float and isinstance(item, int | float) and not isinstance(item, bool):
            if not math.isfinite(item):
                raise UsageError(f"{name} must be a finite number, not {item!r}")
            return float(item)
        if option is int and isinstance(item, int) and not isinstance(item, bool):
            return item
        if option is str and isinstance(item, str):
            return item
        if (origin or option) is tuple and isinstance(item, tuple | list):
            return tuple(item)
    wanted = getattr(hint, "__name__", str(hint))
    raise UsageError(f"{name} must be {wanted}, not {item!r}")


def field_comments(cls: type) -> dict[str, str]:
    """The comment that stands on each field's line in the source: the one place a hyper-parameter is explained."""
    comments: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        try:
            source = textwrap.dedent(inspect.getsource(base))
        except (OSError, TypeError):  # a built-in, or a class typed at a prompt
            continue
        names_by_line = {
            line: node.target.id
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and token.start[0] in names_by_line:
                comments[names_by_line[token.start[0]]] = token.string.lstrip("# ").strip()
    return {field.name: comments.get(field.name, "") for field in dataclasses.fields(cls)}
