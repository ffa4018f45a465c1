"""Checks of the parts of a saved agent; whatever is wrong is a UsageError of one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from showdown.agent.replay_buffer import Bound, Reservoir, Window
from showdown.basics.errors import UsageError
from showdown.protocol.problem import ProblemSpec

LARGEST_COUNT = (1 << 63) - 1
_BOUNDS: dict[str, type[Window] | type[Reservoir]] = {"window": Window, "reservoir": Reservoir}


def actions(about: dict[str, Any], spec: ProblemSpec, usual: list[Any]) -> dict[str, Any]:
    """Which actions there are, by slot; a file of an older version has those that it began with."""
    names, freed = about.get("names", usual), about.get("freed", [])
    if not isinstance(names, list) or len(names) != spec.num_actions:
        raise UsageError(f"its actions must be {spec.num_actions} names")
    used = [name for name in names if name is not None]
    if not used or not all(type(name) in (str, int) for name in used) or len(set(used)) < len(used):
        raise UsageError("its actions must have a name each, and at least one")
    free = [slot for slot, name in enumerate(names) if name is None]
    if not are(freed, int) or len(set(freed)) < len(freed) or not set(freed) <= set(free):
        raise UsageError("the places of actions that were removed must be free")
    return {"names": names, "freed": freed}


def last_check(value: Any) -> str:
    if not isinstance(value, str) or len(value) not in (0, 16) or not value.isascii():
        raise UsageError("the check of the journal's last record must be 16 characters")
    return value


def are(items: Any, kind: type) -> bool:
    return isinstance(items, list) and all(type(item) is kind for item in items)


def bound(data: Any) -> Bound:
    if data is None:
        return None
    if not isinstance(data, dict) or len(data) != 1 or not data.keys() <= _BOUNDS.keys():
        raise UsageError(f"its history is bounded by {str(data)[:40]}, which this version does not know")
    (name,) = data
    return _BOUNDS[name](count(data, name, 1))


def check_rows(what: str, spec: ProblemSpec, inputs: np.ndarray, actions: np.ndarray) -> None:
    if not np.isfinite(inputs).all():
        raise UsageError(f"its {what} holds numbers that are not finite")
    if ((actions < 0) | (actions >= spec.num_actions)).any():
        raise UsageError(f"its {what} holds actions other than 0 to {spec.num_actions - 1}")


def count(data: dict[str, Any], name: str, least: int, most: int = LARGEST_COUNT) -> int:
    value = data.get(name)
    if type(value) is not int or not least <= value <= most:
        raise UsageError(f"{name} must be a whole number from {least} to {most}, not {str(value)[:40]}")
    return value


def array(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Takes it out of `arrays`."""
    array = arrays.pop(name, None)
    if array is None:
        raise UsageError(f"the array {name!r} is missing")
    if array.shape != shape or array.dtype != dtype:
        wanted = f"{np.dtype(dtype)} of the shape {shape}"
        raise UsageError(f"the array {name!r} must be {wanted}, not {array.dtype} of the shape {array.shape}")
    return array
