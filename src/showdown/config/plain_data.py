"""Configurations as plain data, and back: what is stored in JSON and hashed into the identity of a cell."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from pathlib import Path
from typing import Any

from showdown.basics.errors import UsageError
from showdown.config.coerce import is_known, typed
from showdown.config.fingerprint import fingerprint
from showdown.config.kinds import RESERVED, hints_of, is_config, kinds


def to_json(value: Any, *, numerics: bool = False) -> dict[str, Any]:
    """A configuration as plain data.

    With `numerics`, only what its numbers depend on: the version of each family is added, and fields declared with
    `identity=False` (where a file is, how it is written) are left out.
    """
    data: dict[str, Any] = {"kind": type(value).__name__}
    if numerics:
        if hasattr(value, "numerics"):
            data["numerics"] = value.numerics
        if not type(value).__module__.startswith("showdown."):
            data["source"] = _source_hash(type(value))
    for field in dataclasses.fields(value):
        if field.metadata.get("identity" if numerics else "written", True):
            data[field.name] = _plain(getattr(value, field.name), numerics)
    return data


def _plain(item: Any, numerics: bool) -> Any:
    if is_config(item):
        return to_json(item, numerics=numerics)
    return [_plain(member, numerics) for member in item] if isinstance(item, tuple) else item


def _source_hash(cls: type) -> str:
    """The hash of the file that an outside class is defined in, so that an edit of it never shows older numbers."""
    try:
        source = Path(inspect.getsourcefile(cls) or "").read_bytes()
    except (OSError, TypeError):  # typed at a prompt, or in a notebook
        return _code_hash(cls)
    return hashlib.sha256(source).hexdigest()[:16]


def _code_hash(cls: type) -> str:
    """The hash of what a class does, so that one which is typed again does not show older numbers."""
    try:
        return fingerprint(cls)
    except UsageError:  # it names something that cannot be told from another
        return ""


def from_json(data: dict[str, Any]) -> Any:
    """The configuration that `to_json` wrote, with or without `numerics`; one sentence for data that describes none."""
    name = data.get("kind")
    kind: Any = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise UsageError(f"no configuration is called {name!r}")
    given = {name: _restored(item) for name, item in data.items() if name not in RESERVED}
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for unknown in given.keys() - fields.keys():
        raise UsageError(f"{name} has no field {unknown!r}; another version of it may have had one")
    for missing in fields.keys() - given.keys():
        field = fields[missing]
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise UsageError(f"{name} needs a value for {missing!r}, and this description of it has none")
    hints = hints_of(kind)
    return kind(
        **{name: typed(name, item, hints[name]) if is_known(hints[name]) else item for name, item in given.items()}
    )


def _restored(item: Any) -> Any:
    if isinstance(item, dict) and "kind" in item:
        return from_json(item)
    return tuple(map(_restored, item)) if isinstance(item, list) else item


def canonical(data: Any) -> str:
    """One spelling for equal data, fit for hashing."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
