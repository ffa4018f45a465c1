"""Decisions that wait for their reward: each has an id, and only so many are remembered."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from showdown.basics.errors import UsageError


class UnknownDecisionError(UsageError):
    """A reward for a decision that no longer waits for one."""


class Decision(NamedTuple):
    """What was decided, with what is worth logging about it."""

    id: str  # to give to `learn` with the reward
    action: int
    name: str  # of the action; its number as text where the agent has no encoder
    propensity: float  # the probability with which the policy takes this action here
    propensity_error: float  # its standard error; 0 where it is exact


class Waiting(NamedTuple):
    """What must be known of a decision when its reward comes."""

    context: np.ndarray
    action: int


class Pending:
    """The decisions without a reward, by id, the oldest first; when there are too many the oldest is dropped.

    Ids begin with a word drawn anew by every process, so that a reward for a decision that a crash has lost cannot be
    taken for that of a later one.
    """

    def __init__(self, most: int) -> None:
        if type(most) is not int or most < 1:
            raise UsageError(f"an agent remembers at least one decision, not {most!r}")
        self.most = most
        self.dropped = 0  # decisions forgotten before their reward came
        self.unknown = 0  # rewards refused since their decision is not known
        self._word = os.urandom(5).hex()
        self._made = 0
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def new_id(self) -> str:
        self._made += 1
        return f"{self._word}-{self._made}"

    def add(self, id: str, waiting: Waiting) -> None:
        self._waiting[id] = waiting
        while len(self._waiting) > self.most:
            self._waiting.popitem(last=False)
            self.dropped += 1

    def take(self, id: Any) -> Waiting:
        """Raises UnknownDecisionError for one that is not waiting, and counts it."""
        try:
            return self._waiting.pop(id)
        except (KeyError, TypeError):
            self.unknown += 1
        raise UnknownDecisionError(
            f"no decision {str(id)[:60]!r} waits for a reward: it is not one of this agent's, it has had its reward, "
            f"or it was dropped as one of the oldest (at most {self.most} are remembered)"
        )

    def items(self) -> Iterable[tuple[str, Waiting]]:
        return self._waiting.items()
