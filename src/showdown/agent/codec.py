"""What callers hand to an agent, as the numbers that it works with, and its answers in the caller's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from showdown.agent import check_call
from showdown.basics.errors import UsageError
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.protocol.problem import ProblemSpec


class Codec:
    """With an encoder, contexts are rows of the table and actions have names; without, both are numbers."""

    def __init__(self, spec: ProblemSpec, encoder: Encoder | None) -> None:
        self.spec, self.encoder = spec, encoder
        self.counts = EncodeCounts()  # unusual values in rows; saved with the agent

    def context(self, context: Any) -> np.ndarray:
        if self.encoder is None:
            return check_call.context_vector(context, self.spec.context_dim)
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
            return check_call.context_matrix(contexts, self.spec.context_dim)
        encoded = self.encoder.encode(contexts, self.counts)
        if encoded.ndim != 2:
            raise UsageError("many rows are a DataFrame, a 2-D array or a list of rows")
        return _finite(encoded)

    def action(self, action: Any) -> int:
        if self.encoder is not None:
            return self.encoder.action_of(action)
        return check_call.action_number(action, self.spec.num_actions)

    def actions(self, actions: Any, rows: int) -> np.ndarray:
        listed = list(actions)
        if len(listed) != rows:
            raise UsageError(f"there are {rows} contexts and {len(listed)} actions")
        return np.array([self.action(action) for action in listed], np.int32)

    def mask(self, available: Iterable[Any] | None) -> np.ndarray | None:
        """(num_actions,) bool, or None where all are available."""
        if available is None:
            return None
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise UsageError(f"the available actions are a list of actions, not {type(available).__name__}")
        return check_call.available_mask(map(self.action, available), self.spec.num_actions)

    def name(self, action: int) -> Any:
        """An action as the caller knows it."""
        return action if self.encoder is None else self.encoder.action_names[action]


def _finite(encoded: np.ndarray) -> np.ndarray:
    if not np.isfinite(encoded).all():
        raise UsageError("the row holds a number too large for the scale of its column")
    return encoded.astype(np.float32)
