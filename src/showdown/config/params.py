"""`param`: a field's default, explanation, checks and search range, all in one line of code.

prior_precision: float = param(0.25, "λ: ridge prior", positive, log(1e-3, 1e3))
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from showdown.basics.errors import UsageError
from showdown.config.ranges import Range

if TYPE_CHECKING:
    from showdown.config.checks import Check

T = TypeVar("T")

required: Any = dataclasses.MISSING  # as default: the field has none and must be given


@dataclass(frozen=True)
class Param:
    """What a field's own line says about it besides the default."""

    explanation: str = ""
    checks: tuple[Check, ...] = ()
    search: Range | None = None
    small: Any = None  # a value with which everything plays in an instant, for checks; None: the field's own


def param(default: T, explanation: str, *rules: Check | Range, identity: bool = True, small: Any = None) -> T:
    """A field of a configuration, with any number of checks and at most one search range.

    `identity=False` keeps the field out of the identity of cells, for what does not change numbers (a file's path).
    `small` is a value with which everything plays in an instant: checks take it.
    """
    ranges = [rule for rule in rules if isinstance(rule, Range)]
    if len(ranges) > 1:
        raise UsageError(f"a field has one search range, not {len(ranges)}: {explanation!r}")
    checks = tuple(rule for rule in rules if not isinstance(rule, Range))
    about = Param(explanation, checks, ranges[0] if ranges else None, small)
    return dataclasses.field(default=default, metadata={"param": about, "identity": identity})


def param_of(field: dataclasses.Field[Any]) -> Param:
    """Nothing is known of a field declared without `param`."""
    return field.metadata.get("param", Param())
