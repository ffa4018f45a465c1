"""What callers hand to an agent, as the numbers that it works with, and its answers in the caller's words.

Each mistake of a caller is one sentence, and nothing else happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.float32 import LARGEST, shown
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.protocol.problem import ProblemSpec

LARGEST_IN_CONTEXT = 1e18  # beliefs compute squares of contexts, which a float32 must hold


class Codec:
    """Contexts are rows of the table and actions have names where there is an encoder; else both are numbers."""

    def __init__(self, spec: ProblemSpec, encoder: Encoder | None) -> None:
        self.spec, self.encoder = spec, encoder
        self.counts = EncodeCounts()  # unusual values in rows; saved with the agent

    def context(self, context: Any) -> np.ndarray:
        if self.encoder is None:
            return context_vector(context, self.spec.context_dim)
        encoded = self.encoder.encode(context, self.counts)
        if encoded.ndim == 2 and len(encoded) == 1:  # a frame of one row
            encoded = encoded[0]
        if encoded.ndim != 1:
            raise UsageError(f"one decision is about one row, not {len(encoded)}; choose_many takes many")
        return _finite(encoded)

    def contexts(self, contexts: Any) -> np.ndarray:
        if self.encoder is None:
            if isinstance(contexts, list | tuple) and not contexts:
                return np.zeros((0, self.spec.context_dim), np.float32)
            return context_matrix(contexts, self.spec.context_dim)
        encoded = self.encoder.encode(contexts, self.counts)
        if encoded.ndim != 2:
            raise UsageError("many rows are a DataFrame, a 2-D array or a list of rows")
        return _finite(encoded)

    def action(self, action: Any) -> int:
        if self.encoder is not None:
            return self.encoder.action_of(action)
        return action_number(action, self.spec.num_actions)

    def actions(self, actions: Any, rows: int) -> np.ndarray:
        listed = list(actions)
        if len(listed) != rows:
            raise UsageError(f"there are {rows} contexts and {len(listed)} actions")
        return np.array([self.action(action) for action in listed], np.int32)

    def mask(self, available: Iterable[Any] | None) -> np.ndarray | None:
        """Which actions are available, (num_actions,) bool; None where all are."""
        if available is None:
            return None
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise UsageError(f"the available actions are a list of actions, not {type(available).__name__}")
        return available_mask(map(self.action, available), self.spec.num_actions)

    def name(self, action: int) -> Any:
        """An action as the caller knows it."""
        return action if self.encoder is None else self.encoder.action_names[action]


def _finite(encoded: np.ndarray) -> np.ndarray:
    if not np.isfinite(encoded).all() or (encoded.size and np.abs(encoded).max() > LARGEST_IN_CONTEXT):
        raise UsageError("the row holds a number too large for the scale of its column")
    return encoded.astype(np.float32)


def spec_of(context_dim: int | None, num_actions: int | None, encoder: Encoder | None) -> ProblemSpec:
    """The sizes of an agent, as they were given or as its encoder has them."""
    if encoder is not None:
        spec = ProblemSpec(encoder.context_dim, len(encoder.action_names))
        if context_dim not in (None, spec.context_dim) or num_actions not in (None, spec.num_actions):
            raise UsageError(f"the encoder makes {spec.context_dim} features and has {spec.num_actions} actions")
        return spec
    if context_dim is None or num_actions is None:
        raise UsageError("an agent needs context_dim and num_actions, or an encoder that knows them")
    if context_dim < 1 or num_actions < 2:
        raise UsageError(f"an agent needs a context and a choice, not {context_dim} features, {num_actions} actions")
    return ProblemSpec(context_dim, num_actions)


def context_vector(context: Any, dim: int) -> np.ndarray:
    """A context as (dim,) float32."""
    array = _numbers(context)
    if array.shape != (dim,):
        raise UsageError(f"a context has {dim} numbers here, not the shape {array.shape}")
    return _not_too_large(as_float32("a context", array))


def context_matrix(contexts: Any, dim: int) -> np.ndarray:
    """Contexts as (rows, dim) float32."""
    array = _numbers(contexts)
    if array.ndim != 2 or array.shape[1] != dim:
        raise UsageError(f"contexts are rows of {dim} numbers here, not the shape {array.shape}")
    return _not_too_large(as_float32("a context", array))


def _not_too_large(array: np.ndarray) -> np.ndarray:
    if array.size and np.abs(array).max() > LARGEST_IN_CONTEXT:
        raise UsageError(
            f"a context must hold numbers of at most {LARGEST_IN_CONTEXT:g} in size: their squares are needed"
        )
    return array


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
    """Which actions are available, (num_actions,) bool, from their numbers."""
    mask = np.zeros(num_actions, bool)
    mask[list(numbers)] = True
    if not mask.any():
        raise UsageError("no action is available, so there is nothing to choose")
    return mask
