"""Cells that were tried and are not done: never dropped silently."""

from __future__ import annotations

from typing import Any

from showdown.bench.record import Record

_IDENTITY = ("policy", "problem", "horizon", "seed", "trials")


def unfinished(records: list[Record]) -> list[dict[str, Any]]:
    """What was tried, with status and reason, unless a twin made by another version is done."""
    done = {_identity(record) for record in records if record.is_done}
    return [
        {name: getattr(record, name) for name in (*_IDENTITY, "cell", "status", "reason")}
        for record in records
        if not record.is_done and _identity(record) not in done
    ]


def _identity(record: Record) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _IDENTITY)
