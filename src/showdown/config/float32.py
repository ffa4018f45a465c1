"""Numbers as compiled programs see them: floats in float32 (0 below its normal range), counts in int32."""

from __future__ import annotations

import math

import numpy as np

from showdown.basics.errors import UsageError

_LIMITS = np.finfo(np.float32)
LARGEST, SMALLEST = float(_LIMITS.max), float(_LIMITS.tiny)
LARGEST_COUNT = 2**31 - 1


def as_float(name: str, item: float) -> float:
    """A number as a float, or one sentence where float32 has none like it."""
    try:
        number = float(item)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if math.isfinite(number) and abs(number) <= LARGEST:
        return number
    if isinstance(item, float) and not math.isfinite(item):
        raise UsageError(f"{name} must be a finite number, not {item!r}")
    raise UsageError(f"{name} must be at most {LARGEST:.3g} in size, the largest float32, not {shown(item)}")


def as_count(name: str, item: int) -> int:
    """A whole number that int32 holds."""
    if abs(item) > LARGEST_COUNT:
        raise UsageError(f"{name} must be at most {LARGEST_COUNT} in size, the largest int32, not {shown(item)}")
    return item


def as_used(item: float) -> float:
    """The number that a program computes with: rounded to float32, and 0 where that is not a normal number."""
    if not math.isfinite(item) or abs(item) > LARGEST:
        return item
    rounded = float(np.float32(item))
    return rounded if abs(rounded) >= SMALLEST else 0.0


def shown(item: object) -> str:
    """A value for a message, shortened: Python itself refuses to write integers of thousands of digits."""
    if isinstance(item, int) and item.bit_length() > 200:
        return f"an integer of about {math.ceil((item.bit_length() - 1) * math.log10(2))} digits"
    text = repr(item)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"
