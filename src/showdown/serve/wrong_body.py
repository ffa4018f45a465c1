"""What is wrong with a body, in one sentence: pydantic speaks of Python types, which a client does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WANTED = {  # by the name of a field; with [] what a list of that name holds
    "": "a JSON object",
    "context": "an object with a value for each column, or a list of values",
    "available": "a list of actions",
    "available[]": "the name of an action or its number",
    "action": "the name of an action or its number",
    "reward": "a number",
    "id": "text",
    "decisions": "a list",
    "decisions[]": "a JSON object",
    "rewards": "a list",
    "rewards[]": "a JSON object",
}


def sentence(errors: Sequence[Mapping[str, Any]]) -> str:
    """About the first of pydantic's errors."""
    first = errors[0]
    kind, parts = first["type"], list(first["loc"][1:])
    if kind == "json_invalid":
        return f"the body is not JSON: {first['ctx']['error'].replace('expected ident', 'unknown word')}"
    if kind == "missing" and not parts:
        return "the body is empty; it must be a JSON object"
    if kind in ("missing", "extra_forbidden"):
        where = _place(parts[:-1]) or "the body"
        return f"{where} lacks {parts[-1]!r}" if kind == "missing" else f"{where} has an unknown field, {parts[-1]!r}"
    place = _place(parts)
    if kind == "string_too_long":
        return f"{place} may have at most {first['ctx']['max_length']} characters"
    return f"{place or 'the body'} must be {WANTED[_field(parts)]}"


def _known(parts: Sequence[str | int]) -> list[str | int]:
    """Without pydantic's names of the types that it tried, such as `list[any]`."""
    return [part for part in parts if isinstance(part, int) or part in WANTED]


def _place(parts: Sequence[str | int]) -> str:
    """As a program would write it: decisions[1].context."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in _known(parts)).lstrip(".")


def _field(parts: Sequence[str | int]) -> str:
    """The last one, as `WANTED` has it."""
    *before, last = ["", *_known(parts)]
    return f"{before[-1]}[]" if isinstance(last, int) else last
