"""Cells that were tried and are not done: never dropped silently."""

from __future__ import annotations

from typing import Any

_IDENTITY = ("policy", "problem", "horizon", "seed", "trials")


def unfinished(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was tried, with status and reason, unless a twin made by another version is done."""
    done = {tuple(record[name] for name in _IDENTITY) for record in records if record["status"] == "done"}
    return [
        {name: record.get(name) for name in (*_IDENTITY, "cell", "status", "reason")}
        for record in records
        if record["status"] != "done" and tuple(record[name] for name in _IDENTITY) not in done
    ]
