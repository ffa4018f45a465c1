"""The tunings of a store for the page: plain data from their records, each checked, damaged ones named and left out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from showdown.basics.errors import why
from showdown.report.page.compact import number
from showdown.report.page.tuning_tables import read_table
from showdown.tuning.history import FOLDER

MOST_BYTES = 16 << 20
MOST_CANDIDATES = 5000  # that are drawn
_SCALES = ("linear", "log", "integers", "choices")


def tunings_of(directory: Any, warnings: list[str], *, is_store: bool = True) -> list[dict[str, Any]]:
    """Every finished tuning, by name. One that is not finished has no result to show and is left out in silence.

    A folder that is no store may itself be the folder of tunings: what somebody kept of them. Where only the table and
    the preset of one were kept, that is what is shown.
    """
    inner = Path(directory) / FOLDER
    folder = inner if is_store or inner.is_dir() else Path(directory)
    records = sorted(folder.glob("*.json"))
    kept = {path.with_suffix("") for path in records}
    tables = [path for path in sorted(folder.glob("*.csv")) if path.with_suffix("") not in kept]
    found = []
    for path in [*records, *(path for path in tables if path.with_suffix(".toml").is_file())]:
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("it is too large")
            if path.suffix == ".csv":
                found.append(_tuning(read_table(path)))
                continue
            data = json.loads(path.read_text(encoding="utf-8"))
            if "result" in data:
                found.append(_tuning(data))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            warnings.append(
                f"{path.parent.name}/{path.name} is not the record of a tuning and was left out ({why(error)})"
            )
    return found


def _tuning(data: dict[str, Any]) -> dict[str, Any]:
    asked, result = data["request"], data["result"]
    fields = [_field(str(name), each) for name, each in asked["fields"].items()]
    candidates = [[_shown(each[field["name"]]) for field in fields] for batch in data["batches"] for each in batch]
    values = [_number(value) for value in data["values"]]
    parts = [float(part) for part in data["parts"]]
    if not len(candidates) == len(values) == len(parts) > 0:
        raise ValueError("its lists differ in length")
    return {
        "policy": str(asked["policy"]),
        "preset": str(data["preset"]),
        "problems": [str(name) for name in asked["problems"]],
        "objective": str(asked["objective"]),
        "combine": str(asked["combine"]),
        "trials": int(asked["trials"]),
        "sampler": str(asked["sampler"]),
        "fields": fields,
        "importance": {str(name): _number(part) for name, part in data["importance"].items()},
        "candidates": candidates[:MOST_CANDIDATES],
        "values": values[:MOST_CANDIDATES],
        "parts": parts[:MOST_CANDIDATES],
        "chosen": [_shown(result["candidate"][field["name"]]) for field in fields],
        "is_default": bool(result["is_default"]),
        "spelled": str(result["spelled"]),
        "results": [_result(row) for row in result["problems"]],
    }


def _field(name: str, search: dict[str, Any]) -> dict[str, Any]:
    if search["scale"] not in _SCALES:
        raise ValueError(f"it has a scale {search['scale']!r}")
    bounds = {} if search["scale"] == "choices" else {"low": float(search["low"]), "high": float(search["high"])}
    options = [_shown(option) for option in search["options"]]
    return {"name": name, "scale": search["scale"], **bounds, "options": options, "default": _shown(search["default"])}


def _result(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: _number(row[name], 7) for name in ("chosen", "default", "difference", "low", "high")}
    return {"problem": str(row["problem"]), **numbers, "wins": int(row["wins"]), "trials": int(row["trials"])}


def _shown(value: Any) -> float | str:
    """A number as it is, anything else as text."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    return json.dumps(value) if not isinstance(value, str) else value


def _number(value: Any, digits: int = 5) -> float | int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("it holds what is no number")
    return number(value, digits)
