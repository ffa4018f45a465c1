"""JSON as its standard has it: no NaN, no Infinity, no number too large for a double, and no nesting without end."""

from __future__ import annotations

import json
import math
from typing import Any

from fastapi import Request
from pydantic_core import from_json


class StrictRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_strict"):
            self._strict = strict(await self.body())
        return self._strict


def strict(body: bytes) -> Any:
    """Raises JSONDecodeError, which FastAPI turns into a 422."""
    try:
        value = from_json(body)  # takes NaN and Infinity, which the check refuses in plain words
        _check(value)
    except (ValueError, RecursionError) as error:
        raise json.JSONDecodeError(str(error), "", 0) from None
    return value


def _check(value: Any) -> None:
    """Refuse numbers that a double cannot hold: they would be infinite, or raise an error later."""
    if isinstance(value, dict):
        for item in value.values():
            _check(item)
    elif isinstance(value, list):
        for item in value:
            _check(item)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("it has NaN; send null instead" if math.isnan(value) else "a number is infinite or too large")
    elif isinstance(value, int) and abs(value) > 1 << 63:
        raise ValueError("a whole number is too large")
