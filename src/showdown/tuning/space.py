"""The search space: the fields of a policy that may vary, mapped to the unit cube and back.

A candidate is a dictionary from the names of fields, as an override spells them, to their values.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config import Parameter, Range, override, parameters
from showdown.protocol.policy import Policy

Candidate = dict[str, Any]  # values by field
_DIGITS = 5  # significant digits of a proposed float: a value that a person can copy


@dataclass(frozen=True)
class Dimension:
    name: str  # as an override spells it
    search: Range
    default: Any

    def value(self, unit: float) -> Any:
        """The value at a place between 0 and 1."""
        unit = min(max(float(unit), 0.0), 1.0)
        if self.search.scale == "choices":
            return self.search.options[min(int(unit * len(self.search.options)), len(self.search.options) - 1)]
        low, high = self._bounds()
        if self.search.scale == "integers":
            return int(min(math.floor(low + unit * (high - low + 1)), high))
        if self.search.scale == "log":
            inside = math.exp(math.log(low) + unit * (math.log(high) - math.log(low)))
        else:
            inside = low + unit * (high - low)
        return float(min(max(float(f"{inside:.{_DIGITS}g}"), low), high))

    def unit(self, value: Any) -> float:
        """The place of a value; one outside the range is put at its end."""
        if self.search.scale == "choices":
            options = list(self.search.options)
            return (options.index(value) + 0.5) / len(options) if value in options else 0.5
        low, high = self._bounds()
        value = min(max(float(value), low), high)
        if self.search.scale == "integers":
            return (value - low + 0.5) / (high - low + 1)
        if self.search.scale == "log":
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    def _bounds(self) -> tuple[float, float]:
        assert self.search.low is not None
        assert self.search.high is not None
        return self.search.low, self.search.high


@dataclass(frozen=True)
class Space:
    policy: Policy  # the default, which candidates differ from
    name: str  # that a user gave it
    dimensions: tuple[Dimension, ...]

    @property
    def default(self) -> Candidate:
        return {dimension.name: dimension.default for dimension in self.dimensions}

    def candidate(self, place: np.ndarray) -> Candidate:
        pairs = zip(self.dimensions, place, strict=True)
        return {dimension.name: dimension.value(unit) for dimension, unit in pairs}

    def places(self, candidates: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """(candidates, dimensions) places in the unit cube."""
        rows = [[dimension.unit(each[dimension.name]) for dimension in self.dimensions] for each in candidates]
        return np.asarray(rows, float).reshape(len(candidates), len(self.dimensions))

    def configured(self, candidate: Mapping[str, Any]) -> Policy:
        """The policy with these values."""
        return override(self.policy, dict(candidate), self.name)

    def spelled(self, candidate: Mapping[str, Any]) -> str:
        """The candidate as the command line takes it: `LinPost[prior_precision=2.0]`; the bare name for the default."""
        changed = [f"{name}={value}" for name, value in candidate.items() if value != self.default[name]]
        if not changed:
            return self.name
        name, bracket, inside = self.name.partition("[")
        return f"{name}[{','.join([*([inside[:-1]] if bracket else []), *changed])}]"


def at_an_end(space: Space, candidate: Mapping[str, Any]) -> list[str]:
    """Fields whose value is within 1 % of an end of its range, where a wider range may hold a better one."""
    places = space.places([candidate])[0]
    ends = [
        abs(place - 0.5) > 0.49 and row.search.scale in ("log", "linear")
        for row, place in zip(space.dimensions, places, strict=True)
    ]
    return [row.name for row, end in zip(space.dimensions, ends, strict=True) if end]


def space_of(name: str, policy: Policy, fields: Sequence[str] = ()) -> Space:
    """The fields that are asked for, or all floats: they vary within one compiled program.

    Every other value (a count, a choice) is a program of its own, so those fields have to be asked for; `*` means all.
    """
    found = searchable(policy)
    chosen: dict[str, Parameter] = {}
    for field in fields:
        matches = {key: each for key, each in found.items() if _is_called(field, key, each)}
        if not matches:
            raise UsageError(f"{name} has no field {field!r} with a search range; it has {', '.join(found) or 'none'}")
        chosen |= matches
    if not fields:
        chosen = {key: each for key, each in found.items() if each.search and each.search.scale in ("log", "linear")}
    if not chosen:
        raise UsageError(
            f"{name} has no float to tune" + (f"; name fields with --fields: {', '.join(found)}" if found else "")
        )
    rows = [Dimension(key, each.search, each.value) for key, each in chosen.items() if each.search is not None]
    return Space(policy, name, tuple(rows))


def searchable(policy: Policy) -> dict[str, Parameter]:
    """Every field with a search range by the shortest spelling that means it alone."""
    with_range = [each for each in parameters(policy) if each.search is not None and each.value is not None]
    names = [each.field for each in parameters(policy)]
    return {each.field if names.count(each.field) == 1 else each.path: each for each in with_range}


def _is_called(pattern: str, key: str, each: Parameter) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in (key, each.field, each.path))
