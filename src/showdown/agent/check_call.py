"""What an agent is given by its caller, checked: each mistake is one sentence, and nothing else happens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.float32 import LARGEST, shown


def context_vector(context: Any, dim: int) -> np.ndarray:
    """(dim,) float32."""
    array = _numbers(context)
    if array.shape != (dim,):
        raise UsageError(f"a context has {dim} numbers here, not the shape {array.shape}")
    return as_float32("a context", array)


def context_matrix(contexts: Any, dim: int) -> np.ndarray:
    """(rows, dim) float32."""
    array = _numbers(contexts)
    if array.ndim != 2 or array.shape[1] != dim:
        raise UsageError(f"contexts are rows of {dim} numbers here, not the shape {array.shape}")
    return as_float32("a context", array)


def _numbers(context: Any) -> np.ndarray:
    if isinstance(context, Mapping):
        raise UsageError("a context given by column names needs an agent with an encoder: Agent.for_table")
    try:
        array = np.asarray(context)
    except ValueError:  # rows of different lengths
        raise UsageError("a context must hold numbers, as many in each row") from None
    if array.dtype.kind not in "iuf":
        kinds = {"b": "booleans", "U": "text", "S": "text", "O": "objects", "c": "complex numbers"}
        what = "None" if context is None else kinds.get(array.dtype.kind, str(array.dtype))
        raise UsageError(f"a context must hold numbers, not {what}")
    return array


def as_float32(what: str, array: np.ndarray) -> np.ndarray:
    if not np.isfinite(array).all():
        raise UsageError(f"{what} must hold finite numbers")
    if array.dtype != np.float32 and array.size and max(array.max(), -array.min()) > LARGEST:
        raise UsageError(f"{what} must hold numbers of at most {LARGEST:.3g} in size, the largest float32")
    return array.astype(np.float32)


def action_number(action: Any, num_actions: int) -> int:
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
        raise UsageError(f"an action is a whole number from 0 to {num_actions - 1} here, not {shown(action)}")
    if not 0 <= action < num_actions:
        raise UsageError(f"action must lie between 0 and {num_actions - 1}, not {shown(action)}")
    return int(action)


def reward_number(reward: Any) -> np.float32:
    if isinstance(reward, bool | np.bool_) or not isinstance(reward, int | float | np.integer | np.floating):
        raise UsageError(f"a reward must be a number, not {shown(reward)}")
    if not -LARGEST <= reward <= LARGEST:
        if reward != reward or abs(reward) == float("inf"):
            raise UsageError(f"a reward must be a finite number, not {reward}")
        raise UsageError(f"a reward must be at most {LARGEST:.3g} in size, the largest float32, not {shown(reward)}")
    return np.float32(reward)


def reward_vector(rewards: Any, rows: int) -> np.ndarray:
    array = np.asarray(rewards)
    if array.dtype.kind not in "iuf":
        raise UsageError(f"rewards must be numbers, not {array.dtype}")
    if array.shape != (rows,):
        raise UsageError(f"there are {rows} contexts and rewards of the shape {array.shape}")
    return as_float32("rewards", array)


def available_mask(numbers: Iterable[int], num_actions: int) -> np.ndarray:
    """(num_actions,) bool from the numbers of the actions that are available."""
    mask = np.zeros(num_actions, bool)
    mask[list(numbers)] = True
    if not mask.any():
        raise UsageError("no action is available, so there is nothing to choose")
    return mask
