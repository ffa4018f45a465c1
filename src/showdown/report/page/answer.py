"""The answer of `showdown recommend`, kept beside its cells, so that every page of them opens with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from showdown.report import write_file

ANSWER = "answer.json"
PARTS = ("policy", "metric", "lines", "warnings", "decide_seconds")


def write_answer(directory: Path, answer: dict[str, Any]) -> None:
    """Keep what the page shows of an answer: `PARTS`, as plain data."""
    text = json.dumps({name: answer[name] for name in PARTS}, indent=2, ensure_ascii=False)
    write_file(directory / ANSWER, text.encode())


def read_answer(directory: Any, warnings: list[str]) -> dict[str, Any] | None:
    """The answer kept in a folder; None where there is none, or where it cannot be read, which `warnings` then says."""
    path = Path(directory) / ANSWER
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: found[name] for name in PARTS}
    except (OSError, ValueError, KeyError, TypeError):
        warnings.append(f"{path} cannot be read, so the page does not show the recommendation")
        return None
