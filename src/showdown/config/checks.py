"""Which values a field allows: each check is one sentence, run by `check_fields` on every field of a configuration.

`Configuration` is the base of what may be nested under an abstract type: policies, problems, beliefs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import jax
import numpy as np

from showdown.basics.errors import UsageError
from showdown.config import float32
from showdown.config.kinds import hints_of, is_config, is_tuple, literals, options
from showdown.config.params import param_of


@dataclass(frozen=True)
class Check:
    """A condition on a value, or on each member of a tuple, and the end of the sentence that begins with the field."""

    holds: Callable[[Any], bool]
    sentence: str  # `{value}` is put in

    def accepts(self, value: Any) -> bool:
        try:
            return bool(self.holds(value))
        except TypeError:  # text where a number belongs
            return False


positive = Check(lambda value: value > 0, "must be positive, not {value}")
non_negative = Check(lambda value: value >= 0, "must not be negative, and is {value}")
probability = Check(lambda value: 0 <= value <= 1, "is a probability and must lie between 0 and 1, not {value}")
positive_probability = Check(lambda value: 0 < value <= 1, "is a probability and must lie in (0, 1], not {value}")
fraction = Check(lambda value: 0 < value <= 1, "must lie in (0, 1], not {value}")
sizes = Check(lambda value: isinstance(value, int) and value >= 1, "must hold whole numbers of at least 1, not {value}")


def at_least(least: float, why: str = "") -> Check:
    reason = f" ({why})" if why else ""
    return Check(lambda value: value >= least, f"must be at least {least}{reason}, not {{value}}")


def between(low: float, high: float, why: str = "") -> Check:
    """A check that a value lies between two numbers, both allowed."""
    reason = f" ({why})" if why else ""
    return Check(lambda value: low <= value <= high, f"must lie between {low} and {high}{reason}, not {{value}}")


def strictly_between(low: float, high: float) -> Check:
    return Check(lambda value: low < value < high, f"must lie strictly between {low} and {high}, not {{value}}")


def check_fields(value: Any) -> None:
    """Raise UsageError where a field of `value`, or of a configuration nested in it, has a value it may not have."""
    hints = hints_of(type(value))
    for field in dataclasses.fields(value):
        _check_field(field, getattr(value, field.name), hints[field.name])
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        for nested in item if isinstance(item, tuple) else (item,):
            if is_config(nested):
                nested.check() if isinstance(nested, Configuration) else check_fields(nested)


def _check_field(field: dataclasses.Field[Any], item: Any, hint: Any) -> None:
    allowed = literals(hint)
    if allowed and len(options(hint)) == 1 and item not in allowed:
        raise UsageError(f"{field.name} must be one of {', '.join(map(str, allowed))}, not {float32.shown(item)}")
    if isinstance(item, tuple) and not any(map(is_tuple, options(hint))):
        raise UsageError(f"{field.name} must be one value, not {float32.shown(item)}")
    for part in _parts(item):
        if type(part) is int:
            float32.as_count(field.name, part)
        elif isinstance(part, float) and np.isfinite(part):
            float32.as_float(field.name, part)
        for check in param_of(field).checks:
            _apply(check, field.name, part)


def _parts(item: Any) -> Iterator[Any]:
    """The values to check, members of tuples and arrays one by one; JAX's tracers are left out."""
    if isinstance(item, tuple):
        for member in item:
            yield from _parts(member)
    elif isinstance(item, jax.Array | np.ndarray) and not isinstance(item, jax.core.Tracer):
        yield from np.asarray(item).ravel().tolist()
    elif item is not None and not isinstance(item, jax.core.Tracer) and not is_config(item):
        yield item


def _apply(check: Check, name: str, value: Any) -> None:
    if not check.accepts(value):
        raise UsageError(f"{name} {check.sentence.format(value=float32.shown(value))}")
    used = float32.as_used(value) if isinstance(value, float) else value
    if not check.accepts(used):
        sentence = check.sentence.format(value=float32.shown(value))
        raise UsageError(f"{name} {sentence}, which is {used} in the float32 it is used in")


class Configuration:
    """Subclasses are decorated with `@config`; a field whose hint is an abstract subclass holds a configuration."""

    numerics: ClassVar[int] = 1  # bump when a fix moves numbers: older cells are then not reused
    reference: ClassVar[str] = ""  # where the method or the problem comes from

    def check(self) -> None:
        """Raise UsageError if the fields make no sense; a subclass adds what concerns several fields together."""
        check_fields(self)

    def resolve(self) -> Self:
        """The same with fields filled in that follow from others, such as the checksum of a file."""
        return self
