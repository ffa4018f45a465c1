"""`param`: a field's default, explanation, checks and search range, all in one line of code.

prior_precision: float = param(0.25, "λ: ridge prior", positive, log(1e-3, 1e3))

Search ranges say where a good value may be: `log(1e-3, 1e3)`, `linear(0, 1)`, `integers(1, 10)`, `choices(...)`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from showdown.basics.errors import UsageError

if TYPE_CHECKING:
    from showdown.config.checks import Check


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
        """The range as plain data, without what its scale does not use."""
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


T = TypeVar("T")

required: Any = dataclasses.MISSING  # as default: the field has none and must be given


@dataclass(frozen=True)
class Param:
    """What a field's own line says about it besides the default."""

    explanation: str = ""
    checks: tuple[Check, ...] = ()
    search: Range | None = None
    small: Any = None  # a value with which everything plays in an instant, for checks; None: the field's own


def param(
    default: T, explanation: str, *rules: Check | Range, identity: bool = True, written: bool = True, small: Any = None
) -> T:
    """A field of a configuration, with any number of checks and at most one search range.

    `identity=False` keeps the field out of the identity of cells, for what does not change numbers (a file's path), and
    `written=False` out of JSON altogether, for an object.
    `small` is a value with which everything plays in an instant: checks take it.
    """
    ranges = [rule for rule in rules if isinstance(rule, Range)]
    if len(ranges) > 1:
        raise UsageError(f"a field has one search range, not {len(ranges)}: {explanation!r}")
    checks = tuple(rule for rule in rules if not isinstance(rule, Range))
    about = Param(explanation, checks, ranges[0] if ranges else None, small)
    return dataclasses.field(
        default=default, metadata={"param": about, "identity": identity and written, "written": written}
    )


def param_of(field: dataclasses.Field[Any]) -> Param:
    """What `param` says about a field; an empty `Param` for a field declared without it."""
    return field.metadata.get("param", Param())
