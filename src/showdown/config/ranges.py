"""Where to search for a good value of a field: `log(1e-3, 1e3)`, `linear(0, 1)`, `integers(1, 10)`, `choices(...)`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from showdown.basics.errors import UsageError


@dataclass(frozen=True)
class Range:
    """The values worth trying, and the scale on which they are spread evenly."""

    scale: Literal["linear", "log", "integers", "choices"]
    low: float | None = None
    high: float | None = None
    options: tuple[Any, ...] = ()

    def __contains__(self, value: Any) -> bool:
        if self.scale == "choices":
            return value in self.options
        if not isinstance(value, int | float) or self.low is None or self.high is None:
            return False
        return self.low <= value <= self.high and (self.scale != "integers" or value == int(value))

    def plain(self) -> dict[str, Any]:
        """As plain data, without what this scale does not use."""
        return {name: item for name, item in asdict(self).items() if item not in (None, ())}


def linear(low: float, high: float) -> Range:
    """Floats spread evenly."""
    return _bounded("linear", low, high)


def log(low: float, high: float) -> Range:
    """Floats whose logarithm is spread evenly."""
    if low <= 0:
        raise UsageError(f"a search range on a log scale must begin above 0, not at {low}")
    return _bounded("log", low, high)


def integers(low: int, high: int) -> Range:
    """Whole numbers, both ends included."""
    return _bounded("integers", low, high)


def choices(*options: Any) -> Range:
    return Range("choices", options=options)


def _bounded(scale: Literal["linear", "log", "integers"], low: float, high: float) -> Range:
    if not low < high:
        raise UsageError(f"a search range must end above its beginning: {low} to {high}")
    return Range(scale, low, high)
